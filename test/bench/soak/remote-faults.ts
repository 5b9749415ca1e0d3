import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { referenceServer, RemoteProcesses, remoteSecret } from '../../support/remote-process.js';
import { exitOnSignals, freePort, Lab, shipped } from '../measure/lab.js';
import { serve, shippedConfig, writeConfig } from '../targets/gateway.js';
import { Caller } from './caller.js';

/**
 * Streams reviewed by the reference server in Python behind a proxy that is at fault in one of a hundred streams each:
 * slow, dead, garbage, half a reply. Each stream must come whole, be refused or end with an error, and none may have a
 * text that the server has not reviewed.
 */
const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '10000' },
    lanes: { type: 'string', default: '32' },
    node: { type: 'string', default: process.execPath },
  },
});

const address = 'jo.doe@example.com';
const text = Array.from(
  { length: 12 },
  (_, at) => `Line ${at}: all is well, write to ${address} soon. `,
).join('');
const hidden = text.replaceAll(address, '[e-mail]');

const faults = ['slow', 'dead', 'garbage', 'half'] as const;

/** Streams whose fault has been met. */
const met = new Set<number>();

exitOnSignals();
process.exitCode = await run(Number(values.streams), Number(values.lanes));

/** Gives the exit code. */
async function run(streams: number, lanes: number): Promise<number> {
  const lab = await Lab.open(values.node);
  const servers = new RemoteProcesses();
  try {
    const server = await servers.start(await referenceServer('py'), { language: 'py' });
    const caller = new Caller(await startGateway(lab, await startProxy(server)));
    const results = { whole: 0, refused: 0, ended: 0 };
    const wrong: string[] = [];
    let next = 0;
    const lane = async (): Promise<void> => {
      for (let at = (next += 1) - 1; at < streams; at = (next += 1) - 1) {
        const result = await oneStream(caller, at);
        if (result in results) results[result as keyof typeof results] += 1;
        if (!isRight(at, result))
          wrong.push(`stream ${at} (${faultOf(at).fault ?? 'without a fault'}) is ${result}`);
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    console.log(JSON.stringify({ streams, ...results, faults: met.size, wrong: wrong.length }));
    for (const line of wrong.slice(0, 20)) console.log(`✗ ${line}`);
    return wrong.length === 0 ? 0 : 1;
  } finally {
    await servers.end();
    await lab.end();
  }
}

/** Fault of a stream, and the number of the question that meets it. */
function faultOf(at: number): { readonly fault: (typeof faults)[number] | undefined; readonly seq: number } {
  return { fault: faults[at % 100], seq: (Math.floor(at / 100) % 3) * 2 };
}

/** True for what a stream may become: before its first allowed chunk a fault refuses it, afterwards it ends it. */
function isRight(at: number, result: string): boolean {
  return met.has(at) ? result === 'refused' || result === 'ended' : result === 'whole';
}

/** What became of a stream: `whole`, `refused`, `ended`, or what is wrong with it. */
async function oneStream(caller: Caller, at: number): Promise<string> {
  const prompt = `[[sim:slow ms=4]] [[sim:say text="${text}"]]`;
  const answer = await caller.ask({
    format: 'messages',
    isStream: true,
    prompt,
    headers: { 'x-request-id': `stream-${at}` },
  });
  const said = [...answer.body.matchAll(/"text_delta","text":("(?:[^"\\]|\\.)*")/g)]
    .map(([, json = '""']) => JSON.parse(json) as string)
    .join('');
  if (said.includes('example.com') || !hidden.startsWith(said)) return `unreviewed: ${said.slice(-100)}`;
  if (answer.status === 502) return answer.body.includes('stage_failed') ? 'refused' : 'another 502';
  if (answer.status !== 200) return `status ${answer.status}`;
  if (answer.body.includes('event: error'))
    return answer.body.includes('message_stop') ? 'two ends' : 'ended';
  return said === hidden ? 'whole' : `cut at ${said.length}`;
}

async function startGateway(lab: Lab, url: string): Promise<string> {
  const port = await freePort();
  const { origin } = await lab.spawnServer(port, lab.node, [
    shipped('dist/plugins/upstreams/simulator/main.js'),
    '--port',
    String(port),
  ]);
  const { pipeline } = (await shippedConfig()).toJS() as { pipeline: readonly { use: string }[] }; // a config has one
  const remote = {
    use: 'remote',
    name: 'mail',
    with: {
      url,
      on: ['events'],
      secret: remoteSecret,
      timeout: '2s',
      chunk: { chars: 60, after: '1h' },
    },
  };
  const at = pipeline.findIndex(({ use }) => use === 'slot-pick');
  const folder = join(lab.folder, 'gateway');
  await mkdir(folder, { recursive: true });
  await writeConfig(folder, {
    pipeline: [...pipeline.slice(0, at), remote, ...pipeline.slice(at)],
    slots: [
      { id: 'a', upstream: 'messages', baseUrl: origin, account: { kind: 'api-key', key: 'upstream-key' } },
    ],
    models: shipped('config/models.yaml'),
    store: 'memory',
  });
  return (await serve(lab, folder)).origin;
}

/** Proxy in front of a server, with its faults; returns its address. */
async function startProxy(server: URL): Promise<string> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const proxy = createServer((incoming, outgoing) => void pass(incoming, outgoing, server, agent));
  proxy.keepAliveTimeout = 60_000;
  proxy.listen(0, '127.0.0.1').unref();
  await once(proxy, 'listening');
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/check`;
}

async function pass(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  server: URL,
  agent: Agent,
): Promise<void> {
  const body = await bytesOf(incoming);
  const { id, seq } = JSON.parse(body.toString()) as { readonly id: string; readonly seq: number };
  const at = Number(id.split('-')[1]);
  const { fault, seq: faultySeq } = faultOf(at);
  if (fault && seq === faultySeq) met.add(at);
  if (seq === faultySeq && fault === 'slow') return void setTimeout(() => outgoing.end('{}'), 3000).unref();
  if (seq === faultySeq && fault === 'dead') return void outgoing.socket?.destroy();
  if (seq === faultySeq && fault === 'garbage') return void outgoing.end(`{"version":1,"verdict":${id}`);
  const sent = request(server, { method: 'POST', agent, headers: incoming.headers });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const reply = await bytesOf(answer);
  outgoing.writeHead(answer.statusCode ?? 502, { 'content-length': String(reply.length) });
  if (seq !== faultySeq || fault !== 'half') return void outgoing.end(reply);
  outgoing.write(reply.subarray(0, reply.length / 2), () => outgoing.socket?.destroy());
}

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of message) pieces.push(piece as Buffer); // of a message
  return Buffer.concat(pieces);
}
