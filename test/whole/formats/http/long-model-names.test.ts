import { expect } from 'chai';
import { ask, startPair } from '../../harness.js';
import { requestLines } from '../../kit.js';

describe('the log line of a request for a model with a name of megabytes', () => {
  it('has the beginning of the name', async () => {
    const pair = await startPair();
    const model = 'x'.repeat(2_000_000);
    await (await pair.post('/v1/messages', ask('Hello!', { model }))).text();
    const lines = await requestLines(pair);
    await pair.close();
    expect(lines).to.have.length(1);
    expect(lines[0]!['model']).to.equal(`${'x'.repeat(200)}…`);
  });
});
