import { expect } from 'chai';
import { startPair, type Pair } from '../../harness.js';
import { RawClient, head } from '../../raw-client.js';

describe('a connection without a request', () => {
  let pair: Pair | undefined;
  let client: RawClient | undefined;
  afterEach(async () => {
    client?.close();
    await pair?.close();
  });

  async function answered(keepAliveTimeout: string) {
    pair = await startPair({ listen: { host: '127.0.0.1', port: 0, keepAliveTimeout } });
    client = await RawClient.open(pair.url);
    client.send(`${head('GET /health', {})}\r\n`);
    return { answer: await client.answer(), client };
  }

  it('is kept for keepAliveTimeout, as the answer says', async () => {
    const { answer } = await answered('11m');
    expect(answer.headers).to.include({ connection: 'keep-alive', 'keep-alive': 'timeout=660' });
  });

  it('is closed after it', async () => {
    const { answer, client: idle } = await answered('50ms');
    expect(answer.status).to.equal(200);
    await idle.closed;
  });
});
