/**
 * CPU per answer of 64 events: our adapter beside plain undici. The upstream is another process, so that its work is not
 * measured. `node dist/test/bench/upstream-batches.js [answers a round]`
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createParser } from 'eventsource-parser';
import { Pool } from 'undici';
import type { Upstream } from 'gw2api/plugin';
import messages from '#src/upstream/messages.js';
import { aCall, answer, eventStream } from '../upstream/upstream-kit.js';

const events = [
  answer.start,
  ...Array.from({ length: 62 }, (_, at) => answer.delta(`word ${at} `)),
  answer.stop,
];

/** `?burst`: all events in one turn. `?drip`: a turn of the loop between them, so that reads bring a few each. */
function serve(): void {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, eventStream);
    if (request.url?.endsWith('?drip')) void drip(response);
    else for (const event of events) response.write(event);
    if (!request.url?.endsWith('?drip')) response.end();
  });
  server.listen(0, '127.0.0.1', () => process.send?.(server.address()));
}

async function drip(response: ServerResponse): Promise<void> {
  for (const event of events) {
    response.write(event);
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
}

type Variant = (search: string) => Promise<void>;

async function measureAll(answers: number): Promise<void> {
  const server = fork(new URL(import.meta.url).pathname);
  const [{ port }] = (await once(server, 'message')) as [{ port: number }]; // what `serve` sends
  const baseUrl = `http://127.0.0.1:${port}`;
  const pool = new Pool(baseUrl);
  const upstream = await messages.open({ ...settings, baseUrl });
  const variants: Readonly<Record<string, Variant>> = {
    'adapter, batches': (search) => adapter(upstream, search),
    'undici.request, pipe': (search) => pipe(pool, search),
    'undici.request, for await and parse': (search) => parse(pool, search),
  };
  for (const search of ['?burst', '?drip']) {
    const micros = new Map(Object.keys(variants).map((name) => [name, [] as number[]]));
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, variant] of Object.entries(variants)) {
        micros.get(name)?.push(await cpuOf(variant, search, answers));
      }
    }
    for (const [name, all] of micros)
      process.stdout.write(`${search} ${name}: ${median(all)} us CPU an answer\n`);
  }
  await pool.close();
  await upstream.close();
  server.kill();
}

/** The first rounds warm up. */
const rounds = 9;

function median(values: readonly number[]): string {
  const sorted = values.slice(2).toSorted((a, b) => a - b);
  return (sorted[Math.floor(sorted.length / 2)] ?? 0).toFixed(0);
}

/** Eight answers at a time, as a gateway would have it. */
async function cpuOf(variant: Variant, search: string, answers: number): Promise<number> {
  const before = process.cpuUsage();
  const lanes = Array.from({ length: 8 }, async () => {
    for (let done = 0; done < answers / 8; done += 1) await variant(search);
  });
  await Promise.all(lanes);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / answers;
}

async function adapter(upstream: Upstream, search: string): Promise<void> {
  const reply = await upstream.generate(aCall({ search }));
  let seen = 0;
  for await (const batch of reply.events) {
    seen += batch.length;
  }
  if (seen !== events.length) throw new Error(`${seen} events`);
}

const sentBody = JSON.stringify(aCall().request);

async function pipe(pool: Pool, search: string): Promise<void> {
  const { body } = await pool.request({ method: 'POST', path: `/v1/messages${search}`, body: sentBody });
  await pipeline(body, new Writable({ write: (_chunk, _encoding, done) => done() }));
}

async function parse(pool: Pool, search: string): Promise<void> {
  const { body } = await pool.request({ method: 'POST', path: `/v1/messages${search}`, body: sentBody });
  let seen = 0;
  const parser = createParser({ onEvent: () => (seen += 1) });
  for await (const chunk of body) parser.feed(String(chunk));
  if (seen !== events.length) throw new Error(`${seen} events`);
}

const settings = {
  id: 'bench',
  headers: {},
  connectTimeoutMs: 5000,
  maxConcurrent: 8,
  log: { debug() {}, info() {}, warn() {}, error() {}, child: () => settings.log },
};

if (process.send) serve();
else await measureAll(Number(process.argv[2] ?? 1000));
