import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { eventually } from '../../../eventually.js';
import { ProcessWorkshop, type GatewayProcess } from '../../gateway-process.js';
import { startHeldUpstream, type HeldUpstream } from '../../held-upstream.js';
import { SocketClient } from '../../socket-client.js';

const key = 'the-master-key';

/** What a drain is about: the requests in it, or the connections at its end. */
export type DrainPart = 'requests' | 'connections';

/** Tests of the drain delay of so many workers; of one process for 1. */
export function describeDrain(workers: number, parts: readonly DrainPart[]): void {
  describe(`the drain delay of ${workers === 1 ? 'one process' : `${workers} workers`}`, function () {
    this.timeout(60_000);
    const workshop = new ProcessWorkshop();
    const agent = new Agent({ keepAlive: true });
    const oneConnection = new Agent({ keepAlive: true, maxSockets: 1 });
    let upstream: HeldUpstream;
    let gateway: GatewayProcess;
    let url: string;
    beforeEach(async () => {
      upstream = await startHeldUpstream();
    });
    afterEach(async () => {
      agent.destroy();
      oneConnection.destroy();
      await upstream.close();
      await workshop.end();
    });

    async function start(drainDelay: string): Promise<void> {
      const uses = ['auth', 'body-limit', 'format-decode', 'slot-pick', 'upstream-call', 'format-encode'];
      const config = {
        listen: { workers, drainDelay },
        pipeline: uses.map((use) => ({ use })),
        slots: [{ id: 'a', upstream: 'messages', baseUrl: upstream.url, account: { kind: 'none' } }],
      };
      const cwd = await workshop.folder({ 'config/gateway.yaml': config });
      gateway = await workshop.start({ cwd, env: { GW2API_API_KEY: key } });
      url = await gateway.url();
    }

    /** Each of the processes that serve has said so. */
    async function isDraining(): Promise<void> {
      const message = 'Serving requests until the drain delay is over.';
      await eventually(() => gateway.logged.filter(({ msg }) => msg === message).length === workers);
    }

    if (parts.includes('requests')) {
      it('leaves a WebSocket its answer, and then closes it', async () => {
        await start('50ms');
        const [idle, client] = [
          await SocketClient.open({ url }, { key }),
          await SocketClient.open({ url }, { key }),
        ];
        client.create({ input: 'Hi' });
        const held = await upstream.next();
        gateway.signal('SIGTERM');
        expect(await idle.closed).to.match(/^1001/);
        await gateway.log('Waiting for requests to finish.');
        held.finish();
        expect((await client.answer()).at(-1)?.type).to.equal('response.completed');
        expect(await client.closed).to.match(/^1001/);
        expect(await gateway.ended).to.include({ code: 0, stderr: '' });
      });

      it('serves requests of all kinds, says that it is not ready, and ends each connection with its answer', async () => {
        await start('1h');
        const began = send(url, { agent });
        const held = await upstream.next();
        gateway.signal('SIGTERM');
        await isDraining();
        for (const [path, status] of Object.entries({
          '/health': 200,
          '/health?ready=1': 503,
          '/v1/models': 200,
        })) {
          const { response } = await send(url, { path, agent });
          expect([path, response.statusCode]).to.deep.equal([path, status]);
          expect(response.headers.connection).to.equal('close');
        }
        const served = send(url, { agent });
        (await upstream.next()).finish();
        expect((await served).response.headers.connection).to.equal('close');
        held.finish();
        const { response, text } = await began;
        expect([response.statusCode, response.headers.connection]).to.deep.equal([200, 'close']);
        expect(text).to.include('Hello.');
        gateway.signal('SIGTERM');
        expect(await gateway.ended).to.include({ code: 1 });
      });
    }

    if (parts.includes('connections')) {
      it('ends with the port closed and idle connections gone, and lets streams finish', async () => {
        await start('50ms');
        const idle = await keptConnection(url);
        const stream = send(url, { body: { stream: true } });
        const held = await upstream.next();
        const isGone = once(idle, 'close');
        gateway.signal('SIGTERM');
        await gateway.log('Waiting for requests to finish.');
        await isGone;
        await eventually(() => isRefused(url)); // by the last of the workers
        held.finish();
        expect((await stream).text).to.include('message_stop');
        expect(await gateway.ended).to.include({ code: 0, signal: null });
      });

      it('gives a connection that was in use all the time one more answer', async () => {
        await start('4s');
        const began = begin(url, { body: { stream: true }, agent: oneConnection });
        const held = await upstream.next();
        const stream = await began; // its head is out, and does not say that the connection will close
        gateway.signal('SIGTERM');
        await gateway.log('Waiting for requests to finish.');
        held.finish();
        expect(await textOf(stream)).to.include('message_stop');
        const { response } = await send(url, { path: '/v1/models', agent: oneConnection });
        expect([response.statusCode, response.headers.connection]).to.deep.equal([200, 'close']);
        expect(await gateway.ended).to.include({ code: 0, signal: null });
      });
    }
  });
}

interface Sent {
  readonly path?: string;
  readonly body?: object;
  readonly agent?: Agent;
}

interface Answer {
  readonly response: IncomingMessage;
  readonly text: string;
}

async function send(url: string, sent: Sent): Promise<Answer> {
  const response = await begin(url, sent);
  return { response, text: await textOf(response) };
}

/** A Messages request, unless there is another path: then a GET. Resolves with the head of the answer. */
async function begin(url: string, { path, body, agent }: Sent): Promise<IncomingMessage> {
  const headers = { 'content-type': 'application/json', 'x-api-key': key };
  const method = path === undefined ? 'POST' : 'GET';
  const sent = request(`${url}${path ?? '/v1/messages'}`, { method, headers, agent: agent ?? false });
  const messages = [{ role: 'user', content: 'Hi' }];
  sent.end(path === undefined ? JSON.stringify({ model: 'sonnet-5', max_tokens: 9, messages, ...body }) : '');
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return text;
}

async function isRefused(url: string): Promise<boolean> {
  const error: unknown = await send(url, { path: '/health' }).catch((thrown: unknown) => thrown);
  return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED'; // an answer has no code
}

/** A connection that has had an answer, and waits. */
async function keptConnection(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(`GET /health HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`);
  await once(socket, 'data');
  return socket.resume();
}
