import { expect } from 'chai';
import { Workshop, list, whole } from '../workshop.js';

const named = (...changes: readonly string[]) =>
  [
    list(...whole),
    'pipelines:',
    '  - name: red',
    '    changes:',
    ...changes.map((one) => `      - ${one}`),
  ].join('\n');

describe('the order check of named pipelines', () => {
  let workshop: Workshop;
  before(async () => void (workshop = await Workshop.open()));
  after(() => workshop.close());

  it('lets changes through that keep the order', async () => {
    expect(await workshop.problems(named('{ remove: max-tokens }'))).to.deep.equal([]);
  });

  it('names the pipeline whose list cannot work, and reports it for that one alone', async () => {
    expect(await workshop.problems(named('{ remove: slot-pick }'))).to.deep.equal([
      'gateway.yaml:7:5 pipeline[5] "upstream-call" needs "picker", which no stage provides; add "- use: slot-pick" above it (in the pipeline "red")',
    ]);
  });

  it('refuses changes among the entries down to the one that provides the caller', async () => {
    const says = (change: number) =>
      `gateway.yaml:${13 + change}:9 pipelines[0].changes[${change}]: changes entries that all pipelines share: those down to "auth" at line 2, the last one that provides "caller", by which pipelines are chosen; change them under \`pipeline:\`, or place yours below them (in the pipeline "red")`;
    const before = await workshop.problems(named('{ before: auth, add: [{ use: max-tokens, name: x }] }'));
    expect(before).to.include(says(0));
    expect(await workshop.problems(named('{ set: auth, enabled: false }'))).to.include(says(0));
    expect(
      await workshop.problems(named('{ remove: max-tokens }', '{ set: auth, timeout: 1s }')),
    ).to.deep.equal([says(1)]);
  });
});
