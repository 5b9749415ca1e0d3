import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { bodyOf } from '../load/bodies.js';
import { LoadGenerator } from '../load/generator.js';
import { readSlowly } from '../load/slow-client.js';
import { heldBy, type Held } from '../measure/held.js';
import type { Lab } from '../measure/lab.js';
import { jobOf } from '../measure/rounds.js';
import { pairsOf, pairTable } from '../report/pair-table.js';
import { median } from '../report/statistics.js';
import { mark, table } from '../report/table.js';
import { buildsIn, startGateway } from '../targets/gateway.js';
import { startPassThrough } from '../targets/plain.js';
import type { Target } from '../targets/target.js';
import type { Ask } from '../workloads.js';
import type { Report, Section, Setting } from './section.js';

interface HeldSettings {
  readonly name: string;
  readonly title: string;
  readonly ask: Ask;
  /** Rate at which the clients read. */
  readonly bytesPerMs: number;
  /** Max heap and buffers of a stream. */
  readonly goalKb?: number;
}

/** Memory that a process holds for each stream whose client reads slowly. */
export const heldStreams = heldSection({
  name: 'held',
  title: '1,000 streams of 2 MB, each to a client that takes 1 kB a second: bytes held of each',
  ask: { format: 'messages', isStream: true, script: 'bulk-2mb' },
  bytesPerMs: 1,
});

/** Memory that a process holds for each stream that waits for its upstream. */
export const waitingStreams = heldSection({
  name: 'waiting',
  title: '1,000 streams that wait for their second delta: bytes held of each',
  ask: { format: 'messages', isStream: true, script: 'waits-1' },
  bytesPerMs: 100,
  goalKb: 28,
});

function heldSection(settings: HeldSettings): Section {
  const { name, title } = settings;
  return { name, title, weight: 3, isLong: true, run: (setting) => measure(settings, setting) };
}

const warmUp: Ask = { format: 'messages', isStream: true, script: 'words-64' };
const streams = 1000;
/** A thousand clients do not come in the same millisecond; a busy machine is slow to let them in. */
const rampMs = 6000;
const connectTimeoutMs = 60_000;
/** Time for everything that may be buffered to be so. */
const settleMs = 2000;

/** Each round has processes of its own: the first wave grows the heap that the next one would find. */
async function measure(settings: HeldSettings, setting: Setting): Promise<Report> {
  const { lab, isQuick, deadlineMs } = setting;
  const { origin } = await lab.forkServer('test/bench/upstream/process.js');
  const generator = await LoadGenerator.start(lab);
  const starters = [...startersIn(lab, origin)];
  const held = new Map(starters.map(([line]) => [line, [] as Held[]]));
  const rounds = isQuick ? 1 : Math.min(lab.against === undefined ? 3 : 5, setting.rounds);
  for (let round = 0; round < rounds && (round === 0 || performance.now() < deadlineMs); round += 1)
    for (const [line, start] of round % 2 === 0 ? starters : starters.toReversed()) {
      const target = await start();
      held.get(line)?.push(await heldOfEach(target, generator, settings));
      await lab.stop(target.pid);
    }
  return reportOf(held, settings);
}

/** The builds and the pass-through, all with the probe. */
function startersIn(lab: Lab, origin: string): ReadonlyMap<string, () => Promise<Target>> {
  const builds = [...buildsIn(lab)].map(
    ([line, checkout]) => [line, () => startGateway(lab, origin, { checkout, isProbed: true })] as const,
  );
  return new Map([['pass-through', () => startPassThrough(lab, origin, { isProbed: true })], ...builds]);
}

/** A stream's share of what the process has grown by, in bytes. */
async function heldOfEach(
  target: Target,
  generator: LoadGenerator,
  { ask, bytesPerMs }: HeldSettings,
): Promise<Held> {
  await generator.run({ ...jobOf({ target, ask: warmUp }), requests: 1000, concurrency: 16 });
  await heldBy(target.child); // so that the first garbage is gone
  const idle = await heldBy(target.child);
  const pool = new Pool(target.origin, {
    connections: streams,
    bodyTimeout: 0,
    headersTimeout: 0,
    connect: { timeout: connectTimeoutMs },
  });
  const request = { method: 'POST', ...target.address(ask), body: bodyOf(ask) } as const;
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

function reportOf(held: ReadonlyMap<string, readonly Held[]>, { goalKb }: HeldSettings): Report {
  const rows = [...held].map(([line, all]) => {
    const kept = all.map(keptIn);
    const spread = { kept: median(kept), least: Math.min(...kept), most: Math.max(...kept) };
    return {
      line,
      rounds: all.length,
      ...spread,
      ...eachOf((field) => median(all.map((each) => each[field]))),
    };
  });
  const cells = rows.map(({ line, kept, least, most, heap, buffers, rss }) => [
    line,
    `${inKb(kept)}${line === 'gateway' ? mark(kept / 1024, goalKb) : ''}`,
    ...[least, most, heap, buffers, rss].map(inKb),
  ]);
  const pairs = pairsOf(new Map([...held].map(([line, all]) => [line, all.map(keptIn)])));
  const measured = { name: 'Heap and buffers', unit: 'bytes' };
  return { text: table(header, cells) + pairTable(pairs, measured), rows, pairs };
}

const header = ['who', 'heap and buffers, kB a stream', 'least', 'most', 'heap', 'buffers', 'RSS'];

function keptIn({ heap, buffers }: Held): number {
  return heap + buffers;
}

function eachOf(value: (field: keyof Held) => number): Held {
  return { rss: value('rss'), heap: value('heap'), buffers: value('buffers') };
}

function inKb(bytes: number): string {
  return (bytes / 1024).toFixed(1);
}
