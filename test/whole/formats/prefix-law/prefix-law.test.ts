import { defaultStages } from '../../harness.js';
import { formats, Law, pipelineOf, slotIds } from './gateway-law.js';

describe('a request that appends to the one before begins with it', () => {
  it('where it names a response in place of its history', async () => {
    const law = await Law.of(pipelineOf());
    for (const slot of slotIds) await law.holdByIds(slot);
    await law.close();
  });

  it('behind all stages of the default pipeline', async () => {
    const law = await Law.of(pipelineOf(...defaultStages.slice(3, 9).map((use) => ({ use }))));
    for (const slot of slotIds)
      for (const format of formats) await law.hold(format, slot, 2, 'web-search-tool');
    await law.close();
  }).timeout(60_000);
});
