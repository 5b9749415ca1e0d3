import { expect } from 'chai';
import { foldMessages } from '../plugins/formats/grammar/messages.js';
import {
  accountChecks,
  checkFormat,
  fakeFormat,
  runStage,
  stageChecks,
  upstreamChecks,
} from '@gw2api/gateway/testing';

/** Definitions as modules without our package export them. */
describe('@gw2api/gateway/testing with plain objects', () => {
  const account = {
    name: 'mine',
    open: () => ({ authorize: () => ({ 'x-key': 'k' }) }),
  };
  const upstream = {
    name: 'mine',
    open: () => ({ generate: () => Promise.reject(new Error('Nothing was asked.')) }),
  };
  const stage = { name: 'mine', setup: () => (_: unknown, next: () => Promise<void>) => next() };

  it('runs a stage, with the defaults of its options', async () => {
    const options = { type: 'object', properties: { size: { type: 'integer', default: 3 } } };
    const seen: unknown[] = [];
    const sized = { ...stage, options, setup: (given: unknown) => (seen.push(given), stage.setup()) };
    expect(await runStage(sized)).to.include({ nextCalled: true });
    expect(seen).to.deep.equal([{ size: 3 }]);
    const refused = await runStage(sized, { options: { sise: 1 } }).catch(String);
    expect(refused).to.include('sise is not a known');
  });

  it('checks stages, accounts, upstreams and formats', async () => {
    for (const { run } of stageChecks({ plugin: stage })) await run();
    for (const { run } of accountChecks({ kind: account })) await run().catch(isBrokenRule);
    const [rule] = upstreamChecks({ kind: upstream, play: async () => ({}) });
    expect(await rule!.run().catch(String)).to.include('Nothing was asked');
    const { keepsBytes: _, settings: __, options: ___, ...format } = fakeFormat('mine');
    const check = { body: { model: 'm', messages: [] }, fold: foldMessages, errorIn: () => '' };
    expect(await checkFormat(format, check).catch(String)).to.include('The format breaks a rule: a text: ');
  });

  it('refuses a field that the loader refuses', async () => {
    const wrong = { ...stage, require: [] };
    expect(await runStage(wrong).catch(String)).to.include('stage "mine" has the unknown field "require"');
    expect(() => stageChecks({ plugin: wrong })).to.throw('did you mean "requires"?');
  });
});

/** Rules may be broken; another error would be one of the suite's. */
function isBrokenRule(error: Error): void {
  expect(error.message).to.match(/^The account breaks a rule/);
}
