import { expect } from 'chai';
import { ask, startPair, type Pair } from '../../harness.js';

describe('the log of a request that its upstreams have failed', () => {
  let pair: Pair;
  beforeEach(async () => {
    pair = await startPair();
  });
  afterEach(() => pair.close());

  const warnings = () =>
    pair.logged.filter(({ level, msg }) => level === 'warn' && /^Slot|Overloaded/.test(String(msg)));

  it('names the slot, the code, and what comes of it', async () => {
    for (let call = 0; call < 10; call += 1) pair.simulator.faults.push('529');
    const answer = await pair.post('/v1/messages', ask('Hi'));
    await answer.text();
    const [line, ...more] = warnings();
    expect(more).to.deep.equal([]);
    const attempts = Number(answer.headers.get('x-gw-attempts'));
    expect(line).to.include({ slot: 'a', code: 'overloaded_error', status: answer.status, attempts });
    expect(line!['msg']).to.equal(
      `Slot "a" answered with an error, and the caller gets ${answer.status} after ${attempts} calls. overloaded_error: Overloaded`,
    );
  });

  it('says that an answer which had begun ends', async () => {
    pair.simulator.faults.push('error after=5');
    const answer = await pair.post('/v1/messages', ask('Hi', { stream: true }));
    await answer.text();
    const [line] = warnings();
    expect(line!['msg']).to.match(
      /^Slot "a" answered with an error, and the started answer ends with it\. \w+: /,
    );
  });
});
