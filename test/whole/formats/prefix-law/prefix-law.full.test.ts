import { formats, Law, pipelineOf, slotIds, stages } from './gateway-law.js';

describe('a request that appends to the one before begins with it', () => {
  describe('through each upstream', () => {
    let law: Law;
    before(async () => void (law = await Law.of(pipelineOf())));
    after(() => law.close());
    for (const slot of slotIds)
      for (const format of formats) it(`${slot}, of ${format} callers`, () => law.hold(format, slot, 20));
  });

  for (const [stage, options] of stages)
    it(`behind ${stage}`, async () => {
      const law = await Law.of(pipelineOf({ use: stage, ...(options && { with: options }) }));
      for (const slot of slotIds) for (const format of formats) await law.hold(format, slot, 2, stage);
      await law.close();
    }).timeout(60_000);
});
