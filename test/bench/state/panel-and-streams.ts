import path from 'node:path';
import { parseArgs } from 'node:util';
import { LoadGenerator } from '../load/generator.js';
import type { Spread } from '../load/job.js';
import { exitOnSignals, Lab } from '../measure/lab.js';
import { jobOf } from '../measure/rounds.js';
import { median } from '../report/statistics.js';
import { table } from '../report/table.js';
import { startGateway } from '../targets/gateway.js';
import { masterKey } from '../targets/issued-keys.js';
import { plainTarget } from '../targets/plain.js';
import type { Target } from '../targets/target.js';
import type { Ask } from '../workloads.js';
import { openPlace, type Place } from './places.js';
import { batches } from './rows.js';

const usage = `npm run bench:panel [-- OPTIONS]: what streams notice of the console's longest queries (SQLite)

  --rows 1000000      how many there are in the ledger
  --streams 50        how many at a time, a delta every 20 ms
  --rounds 5          how often with and without queries
`;

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    streams: { type: 'string', default: '50' },
    rounds: { type: 'string', default: '5' },
    help: { type: 'boolean', default: false },
  },
});

const ask: Ask = { format: 'messages', isStream: true, script: 'ticks-250' };
const hourMs = 3_600_000;

exitOnSignals();
if (values.help) console.log(usage);
else await run();

async function run(): Promise<void> {
  const lab = await Lab.open(process.execPath);
  try {
    const file = path.join(lab.folder, 'gateway.db');
    await fill(file);
    const upstream = plainTarget(await lab.forkServer('test/bench/upstream/process.js'));
    const gateway = await startGateway(lab, upstream.origin, { file });
    console.log(await measure(gateway, await LoadGenerator.start(lab)));
  } finally {
    await lab.end();
  }
}

async function fill(file: string): Promise<void> {
  const settings = { kind: 'sqlite', file } as const;
  const place: Place = { settings, text: `sqlite:${file}`, remove: async () => undefined };
  const store = await openPlace(place);
  for (const batch of batches(Number(values.rows), Date.now(), 1000)) await store.ledger.append(batch);
  await store.close();
}

/** Waves of streams, every other one with somebody at the console who asks one question after the other. */
async function measure(gateway: Target, generator: LoadGenerator): Promise<string> {
  const streams = Number(values.streams);
  const job = { ...jobOf({ target: gateway, ask }), requests: streams, concurrency: streams, rampMs: 500 };
  await generator.run(job);
  const quiet: Spread[] = [];
  const busy: Spread[] = [];
  const asked = new Map(questions().map((question) => [question, [] as number[]]));
  for (let round = 0; round < Number(values.rounds); round += 1) {
    quiet.push(delayOf(await generator.run(job)));
    const over = new AbortController();
    const visit = askAll(gateway.origin, asked, over.signal);
    busy.push(delayOf(await generator.run(job)));
    over.abort();
    await visit;
  }
  const lines = [line('nobody at the console', quiet), line('three questions over and over', busy)];
  const times = [...asked].map(([question, ms]) => [question, String(ms.length), median(ms).toFixed(0)]);
  return [
    table([`${streams} streams`, 'delay ms p50', 'p99', 'latest'], lines),
    table(['question', 'asked', 'median ms'], times),
  ].join('\n\n');
}

/** The longest that the panel allows: nearly 20,000 sums, a day counted from its rows, rows that few filters find. */
function questions(): readonly string[] {
  const from = new Date(Date.now() - 16 * 24 * hourMs).toISOString();
  return [
    `/usage?by=key&step=1h&from=${from}`,
    '/usage?by=key&step=15m',
    '/requests?key=key-7&slot=slot-3&model=model-3&limit=1000',
  ];
}

async function askAll(
  origin: string,
  asked: ReadonlyMap<string, number[]>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted)
    for (const [question, ms] of asked) {
      if (signal.aborted) return;
      const startedMs = performance.now();
      const response = await fetch(`${origin}/api/panel${question}`, { headers: { 'x-api-key': masterKey } });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${question}: ${response.status}`);
      ms.push(performance.now() - startedMs);
    }
}

function delayOf({ delayMs }: { readonly delayMs?: Spread }): Spread {
  if (!delayMs) throw new Error('The script says no times.');
  return delayMs;
}

function line(name: string, waves: readonly Spread[]): string[] {
  const middle = (field: keyof Spread) => median(waves.map((each) => each[field])).toFixed(1);
  return [name, middle('p50'), middle('p99'), middle('max')];
}
