import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';

/**
 * CPU time per request of the full default pipeline beside a pass-through, in interleaved rounds, and what starting costs.
 * `node dist/test/bench/streams.js [ROUNDS] [REQUESTS]`; CPU is user + system of the process as Linux counts it.
 */
const rounds = Number(process.argv[2] ?? 7);
const requests = Number(process.argv[3] ?? 1500);
const concurrency = 16;
const key = 'bench-key';
const dist = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

const messages = [{ role: 'user', content: 'Tell me something.' }];
const workloads = [
  { name: 'pass-through', target: 'pass-through', path: '/v1/messages', end: 'message_stop' },
  { name: 'messages', target: 'gateway', path: '/v1/messages', end: 'message_stop' },
  { name: 'chat', target: 'gateway', path: '/v1/chat/completions', end: '[DONE]' },
  { name: 'responses', target: 'gateway', path: '/v1/responses', end: '[DONE]' },
] as const;
type Workload = (typeof workloads)[number];

const children: ChildProcess[] = [];
const folder = await mkdtemp(join(tmpdir(), 'bench-'));
try {
  await main();
} finally {
  for (const child of children) child.kill('SIGTERM');
  await rm(folder, { recursive: true });
}

async function main(): Promise<void> {
  const origin = await startChild('test/bench/origin.js', {});
  const upstream = `http://127.0.0.1:${origin.port}`;
  const passThrough = await startChild('test/bench/pass-through.js', { UPSTREAM: upstream });
  const gateway = await startGateway(upstream);
  const targets = { 'pass-through': passThrough, gateway };
  const costs = new Map<string, number[]>(workloads.map(({ name }) => [name, []]));
  for (const workload of workloads) await load(workload, targets[workload.target].port, 300);
  for (let round = 0; round < rounds; round += 1) {
    for (const workload of workloads) {
      const { pid, port } = targets[workload.target];
      const before = await cpuMs(pid);
      await load(workload, port, requests);
      costs.get(workload.name)?.push(((await cpuMs(pid)) - before) / requests);
    }
  }
  report(costs);
}

function report(costs: ReadonlyMap<string, readonly number[]>): void {
  const baseline = median(costs.get('pass-through') ?? []);
  for (const [name, values] of costs) {
    const cost = median(values);
    const spread = `${us(Math.min(...values))} to ${us(Math.max(...values))}`;
    console.log(
      `${name.padEnd(14)} ${us(cost)} a request (${spread}), ${(cost / baseline).toFixed(2)} of pass-through`,
    );
  }
}

/** Runs `count` requests, `concurrency` at a time, and checks that each answer is complete. */
async function load({ path, end, name }: Workload, port: number, count: number): Promise<void> {
  const dispatcher = new Agent({ connections: concurrency });
  const body = JSON.stringify({
    model: 'sonnet-5',
    max_tokens: 1000,
    stream: true,
    ...(name === 'responses' ? { input: 'Tell me something.', store: false } : { messages }),
  });
  const headers = { 'content-type': 'application/json', 'x-api-key': key };
  let left = count;
  const work = async () => {
    while (left > 0) {
      left -= 1;
      const answer = await request(`http://127.0.0.1:${port}${path}`, {
        method: 'POST',
        headers,
        body,
        dispatcher,
      });
      const text = await answer.body.text();
      if (answer.statusCode !== 200 || !text.trimEnd().slice(-80).includes(end))
        throw new Error(`Incomplete: ${text}`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  await dispatcher.close();
}

interface Target {
  readonly pid: number;
  readonly port: number;
}

async function startChild(script: string, env: Record<string, string>): Promise<Target> {
  const child = fork(dist(script), { env: { ...process.env, ...env } });
  children.push(child);
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return { pid: child.pid ?? 0, port };
}

/** The gateway as an operator runs it, its log going nowhere. Prints how long the start took, and its memory. */
async function startGateway(upstream: string): Promise<Target> {
  const config = await readFile(dist('../config/gateway.yaml'), 'utf8');
  const slot = `slots: [{ id: a, upstream: messages, baseUrl: "${upstream}", account: { kind: api-key, key: k }, maxConcurrent: 64 }]\n`;
  const models = `models: ${dist('../config/models.yaml')}\n`;
  const pipeline = config.slice(config.indexOf('pipeline:'), config.indexOf('\nslots:'));
  const file = join(folder, 'gateway.yaml');
  await writeFile(file, `${pipeline}\n${slot}${models}`);
  const port = await freePort();
  const env = { ...process.env, GW2API_API_KEY: key, PORT: String(port), HOST: '127.0.0.1' };
  const startedMs = performance.now();
  const child = fork(dist('server.js'), ['--config', file], {
    cwd: folder,
    env,
    stdio: 'ignore',
    serialization: 'json',
  });
  children.push(child);
  await firstAnswer(port);
  console.log(`start to first answer: ${(performance.now() - startedMs).toFixed(0)} ms`);
  const pid = child.pid ?? 0;
  console.log(`memory after the first answer: ${await rssMb(pid)} MB`);
  return { pid, port };
}

async function firstAnswer(port: number): Promise<void> {
  const headers = { 'content-type': 'application/json', 'x-api-key': key };
  const body = JSON.stringify({ model: 'sonnet-5', max_tokens: 10, messages });
  for (let attempt = 0; attempt < 2000; attempt += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/messages`, {
      method: 'POST',
      headers,
      body,
    }).catch(() => null);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('The gateway did not start.');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

async function cpuMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function rssMb(pid: number): Promise<string> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return (Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024).toFixed(0);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function us(ms: number): string {
  return `${(ms * 1000).toFixed(0)} µs`;
}
