import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { heldBytes } from '../../../held-bytes.js';
import { eventsIn, masterKey, slotAt, stages, startGateway, type GatewayUnderTest } from '../../harness.js';

describe('several answers to one request', () => {
  let simulator: Simulator;
  let under: GatewayUnderTest;

  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.close());
  afterEach(() => under.close());

  async function start(maxConcurrent: number): Promise<void> {
    const pipeline = stages({ with: { 'slot-pick': { queueTimeout: '1s' } } });
    under = await startGateway({ pipeline, slots: [slotAt(simulator.url, { maxConcurrent })] });
  }

  function askFor(n: number, fields: object = {}): Promise<Response> {
    const messages = [{ role: 'user', content: 'hello [[sim:slow ms=5]]' }];
    return under.post('/v1/chat/completions', { model: 'sonnet-5', n, messages, ...fields });
  }

  it('come though the slot has fewer places than there are answers', async () => {
    await start(2);
    const answer = await askFor(5);
    expect(answer.status).to.equal(200);
    const { choices } = (await answer.json()) as { choices: readonly { message: { content: string } }[] };
    expect(choices.map(({ message }) => message.content.length > 0)).to.deep.equal(Array(5).fill(true));
  });

  it('come as a stream though the slot has fewer places than there are answers', async () => {
    await start(2);
    const answer = await askFor(5, { stream: true });
    expect(answer.status).to.equal(200);
    const chunks = eventsIn(await answer.text()) as readonly { choices?: readonly Choice[] }[];
    const finished = chunks.flatMap(({ choices = [] }) => choices).filter((choice) => choice.finish_reason);
    expect(finished.map(({ index }) => index)).to.have.members([0, 1, 2, 3, 4]);
    expect(chunks.at(-1)).to.equal('[DONE]');
  });

  it('come to two callers who both hold places that the other waits for', async () => {
    await start(3);
    const answers = await Promise.all([askFor(3), askFor(3, { stream: true }), askFor(3)]);
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    await Promise.all(answers.map((answer) => answer.text()));
    await under.gateway.exchanges.idle();
    expect(under.gateway.services.slots.list()[0]).to.include({ inFlight: 0, queued: 0 });
  });

  it('share one body, however many of them wait for an upstream to read it', async () => {
    let calls = 0;
    const all = new EventEmitter();
    const unread = createServer(() => (calls += 1) === 32 && all.emit('called'));
    unread.listen(0, '127.0.0.1');
    await once(unread, 'listening');
    const { port } = unread.address() as AddressInfo; // it listens on a port
    under = await startGateway({ slots: [slotAt(`http://127.0.0.1:${port}`, { maxConcurrent: 32 })] });
    const mega = 'A large part of a prompt. '.repeat(40_000);
    const content = Array.from({ length: 4 }, () => ({ type: 'text', text: mega }));
    const body = { model: 'sonnet-5', n: 32, messages: [{ role: 'user', content }] };
    const before = heldBytes();
    const called = once(all, 'called');
    const leave = new AbortController();
    const answer = fetch(`${under.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': masterKey },
      body: JSON.stringify(body),
      signal: leave.signal,
    }).catch(() => undefined);
    await called;
    const held = heldBytes() - before;
    leave.abort();
    await answer;
    unread.closeAllConnections();
    unread.close();
    expect(held).to.be.below(10 * 4 * mega.length); // 32 bodies if each had its own
  });

  it('are as many as 128 without a warning of Node about leaking listeners', async () => {
    await start(128);
    const warnings: string[] = [];
    const note = ({ name }: Error) => void warnings.push(name);
    process.on('warning', note);
    const answer = await askFor(128);
    process.off('warning', note);
    expect(answer.status).to.equal(200);
    expect(warnings).to.not.include('MaxListenersExceededWarning');
  });
});

interface Choice {
  readonly index: number;
  readonly finish_reason: string | null;
}
