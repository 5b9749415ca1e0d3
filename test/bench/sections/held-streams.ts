import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { LoadGenerator } from '../load/generator.js';
import { readSlowly } from '../load/slow-client.js';
import { heldBy, type Held } from '../measure/held.js';
import { jobOf } from '../measure/rounds.js';
import { median } from '../report/statistics.js';
import { table } from '../report/table.js';
import { buildsIn, startGateway } from '../targets/gateway.js';
import type { Target } from '../targets/target.js';
import type { Ask } from '../workloads.js';
import type { Report, Section, Setting } from './section.js';

/** Memory that a gateway holds for each stream whose client reads slowly. */
export const heldStreams: Section = {
  name: 'held',
  title: '1,000 streams of 2 MB, each to a client that takes 1 kB a second: bytes held of each',
  weight: 3,
  isLong: true,
  run: measure,
};

const ask: Ask = { format: 'messages', isStream: true, script: 'bulk-2mb' };
const warmUp: Ask = { ...ask, script: 'words-64' };
const streams = 1000;
const bytesPerMs = 1;
/** A thousand clients do not come in the same millisecond; a busy machine is slow to let them in. */
const rampMs = 6000;
const connectTimeoutMs = 60_000;
/** Time for everything that may be buffered to be so. */
const settleMs = 2000;

/** Each round has processes of its own: the first wave grows the heap that the next one would find. */
async function measure(setting: Setting): Promise<Report> {
  const { lab, isQuick, deadlineMs } = setting;
  const { origin } = await lab.forkServer('test/bench/upstream/process.js');
  const generator = await LoadGenerator.start(lab);
  const builds = buildsIn(lab);
  const held = new Map([...builds.keys()].map((line) => [line, [] as Held[]]));
  const rounds = isQuick ? 1 : Math.min(3, setting.rounds);
  for (let round = 0; round < rounds && (round === 0 || performance.now() < deadlineMs); round += 1)
    for (const [line, checkout] of builds) {
      const target = await startGateway(lab, origin, { checkout, isProbed: true });
      held.get(line)?.push(await heldOfEach(target, generator));
      await lab.stop(target.pid);
    }
  return reportOf(held);
}

/** A stream's share of what the process has grown by, in bytes. */
async function heldOfEach(target: Target, generator: LoadGenerator): Promise<Held> {
  await generator.run({ ...jobOf({ target, ask: warmUp }), requests: 1000, concurrency: 16 });
  await heldBy(target.child); // so that the first garbage is gone
  const idle = await heldBy(target.child);
  const pool = new Pool(target.origin, {
    connections: streams,
    bodyTimeout: 0,
    headersTimeout: 0,
    connect: { timeout: connectTimeoutMs },
  });
  const { path, headers, body } = jobOf({ target, ask });
  const request = { method: 'POST', path, headers, body } as const;
  try {
    const client = async (_: unknown, at: number) => {
      await sleep((at * rampMs) / streams);
      await readSlowly(pool, request, bytesPerMs);
    };
    await Promise.all(Array.from({ length: streams }, client));
    await sleep(settleMs);
    const full = await heldBy(target.child);
    return eachOf((field) => (full[field] - idle[field]) / streams);
  } finally {
    await pool.destroy();
  }
}

function reportOf(held: ReadonlyMap<string, readonly Held[]>): Report {
  const rows = [...held].map(([line, all]) => {
    return { line, rounds: all.length, ...eachOf((field) => median(all.map((each) => each[field]))) };
  });
  const cells = rows.map(({ line, rss, heap, buffers }) => [line, ...[rss, heap, buffers].map(inKb)]);
  return { text: table(['who', 'RSS kB a stream', 'heap kB', 'buffers kB'], cells), rows };
}

function eachOf(value: (field: keyof Held) => number): Held {
  return { rss: value('rss'), heap: value('heap'), buffers: value('buffers') };
}

function inKb(bytes: number): string {
  return (bytes / 1024).toFixed(1);
}
