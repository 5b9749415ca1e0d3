import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { Agent } from 'undici';
import { exchange } from '../load/exchange.js';
import { exitOnSignals, Lab } from '../measure/lab.js';
import { FaultyProxy, type ProxyFault } from '../../support/faulty-proxy.js';
import { masterKey } from '../targets/issued-keys.js';
import { json } from '../targets/target.js';
import { Faults } from './faults.js';
import { outcomeOf, spokenText, type Outcome } from '../../support/remote-outcome.js';
import { startGateway, startServer } from './world.js';

const usage = `npm run bench:remote [-- OPTIONS]

Streams through a remote stage on the reference server in Python, behind a proxy that spoils a reply of some of them:
late, none, garbage, half of it. Fails if a stream is neither whole, nor refused or ended as configured.

  --streams 10000  how many
  --lanes 64       how many at a time
  --percent 1      share of the streams with each of the four faults
  --language py    mjs: the reference server for Node
  --node PATH      the Node that all processes run on
`;

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '10000' },
    lanes: { type: 'string', default: '64' },
    percent: { type: 'string', default: '1' },
    language: { type: 'string', default: 'py' },
    node: { type: 'string', default: process.execPath },
    help: { type: 'boolean', default: false },
  },
});

exitOnSignals();
if (values.help) console.log(usage);
else process.exitCode = await run();

/** Gives the exit code. */
async function run(): Promise<number> {
  const lab = await Lab.open(values.node);
  const faults = new Faults(Number(values.percent));
  try {
    const secret = `whsec_${randomBytes(24).toString('base64')}`;
    const target = new URL('/check', await startServer(lab, values.language, secret));
    const proxy = await FaultyProxy.open({ target, slowMs: 8000, faultOf: (id) => faults.of(id) });
    try {
      const origin = await startGateway(lab, proxy.url, secret);
      await warmUp(origin);
      const startedMs = performance.now();
      const tally = await streams(origin, faults);
      const seconds = (performance.now() - startedMs) / 1000;
      const metrics = await callMetrics(origin);
      return report(tally, { seconds, metrics, faults });
    } finally {
      await proxy.close();
    }
  } finally {
    await lab.end();
  }
}

interface Tally {
  /** Number of streams by outcome, and by the fault that they had. */
  readonly outcomes: Map<string, number>;
  readonly wrong: string[];
}

async function streams(origin: string, faults: Faults): Promise<Tally> {
  const tally: Tally = { outcomes: new Map(), wrong: [] };
  const agent = new Agent({ connections: Number(values.lanes) });
  let left = Number(values.streams);
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const id = `stream-${left}`;
      const { status, body } = await stream(agent, origin, id);
      add(tally, { id, fault: faults.given.get(id), outcome: outcomeOf(status, body), body });
    }
  };
  await Promise.all(Array.from({ length: Number(values.lanes) }, lane));
  await agent.close();
  return tally;
}

/** The first questions take longest: modules are loaded, and V8 compiles. */
async function warmUp(origin: string): Promise<void> {
  const agent = new Agent({ connections: 1 });
  for (let at = 0; at < 20; at += 1) await stream(agent, origin, `warm-up-${at}`);
  await agent.close();
}

async function stream(agent: Agent, origin: string, id: string) {
  const prompt = `[[sim:say text="${spokenText}"]] [[sim:slow ms=3]]`;
  const body = JSON.stringify({
    model: 'sonnet-5',
    max_tokens: 200,
    stream: true,
    messages: [{ role: 'user', content: prompt }],
  });
  const headers = { ...json, 'x-api-key': masterKey, 'x-request-id': id };
  const { status, chunks } = await exchange(agent, {
    origin,
    method: 'POST',
    path: '/v1/messages',
    headers,
    body,
  });
  return { status, body: Buffer.concat(chunks).toString() };
}

interface Ended {
  readonly id: string;
  readonly fault: ProxyFault | undefined;
  readonly outcome: Outcome;
  readonly body: string;
}

/** A stream with a fault is refused or ended; one without is whole, unless the circuit breaker was open. */
function add({ outcomes, wrong }: Tally, { id, fault, outcome, body }: Ended): void {
  const isOpen = !fault && body.includes('is not asked');
  const cause = fault ?? (isOpen ? 'circuit breaker' : 'none');
  const name = `${cause}: ${outcome}`;
  outcomes.set(name, (outcomes.get(name) ?? 0) + 1);
  const isRight = cause === 'none' ? outcome === 'whole' : outcome === 'refused' || outcome === 'ended';
  if (!isRight && wrong.length < 20) wrong.push(`${id}, fault ${cause}: ${outcome}: ${body.slice(-300)}`);
}

async function callMetrics(origin: string): Promise<readonly string[]> {
  const answer = await fetch(`${origin}/metrics`, { headers: { 'x-api-key': masterKey } });
  return (await answer.text()).split('\n').filter((line) => line.startsWith('gw2api_remote_calls_total'));
}

function report(
  { outcomes, wrong }: Tally,
  {
    seconds,
    metrics,
    faults,
  }: { readonly seconds: number; readonly metrics: readonly string[]; readonly faults: Faults },
): number {
  const total = [...outcomes.values()].reduce((sum, count) => sum + count, 0);
  console.log(`${total} streams in ${seconds.toFixed(1)} s, ${faults.given.size} with a fault`);
  for (const [name, count] of [...outcomes].toSorted(([one], [other]) => one.localeCompare(other)))
    console.log(`  ${name}: ${count}`);
  for (const line of metrics) console.log(`  ${line}`);
  for (const line of wrong) console.log(`✗ ${line}`);
  if (wrong.length === 0)
    console.log('✓ each stream was whole, refused or ended as configured, and none unguarded');
  return wrong.length === 0 ? 0 : 1;
}
