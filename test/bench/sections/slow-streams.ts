import { LoadGenerator } from '../load/generator.js';
import type { JobResult } from '../load/job.js';
import { peakDuring } from '../measure/memory-watch.js';
import { memoryOfTree, threadTimes, treeOf } from '../measure/proc.js';
import { jobOf } from '../measure/rounds.js';
import { cpuOf, pairsOf, pairTable } from '../report/pair-table.js';
import { median, pairedRatio } from '../report/statistics.js';
import { against, mark, table } from '../report/table.js';
import { startTargets } from '../targets/index.js';
import type { Target, TargetName } from '../targets/target.js';
import type { Ask } from '../workloads.js';
import type { Section, Setting } from './section.js';

/** W4: many streams at a time, a delta every 20 ms: what is added to each event, and what a stream costs. */
export function slowStreams(streams: number, goals: SlowGoals): Section {
  const title = `${streams} streams at a time, 250 deltas each, one every 20 ms`;
  return {
    name: 'W4',
    title,
    weight: 6,
    isLong: streams > 200,
    run: (setting) => measure(streams, goals, setting),
  };
}

interface SlowGoals {
  readonly passThrough: number;
  readonly portkey: number;
  /** The most that the median event may come later than through the pass-through. */
  readonly addedMs?: number;
  readonly rssKb?: number;
}

/** One wave of streams through one target. */
interface Wave {
  readonly cpuMicros: number;
  readonly delayP50: number;
  readonly delayP99: number;
  readonly delayMax: number;
  readonly firstByteMs: number;
  /** A stream's share of what the processes have grown by. */
  readonly rssKb: number;
}

const ask: Ask = { format: 'messages', isStream: true, script: 'ticks-250' };
/** A thousand callers do not come in the same millisecond. */
const rampMs = 2000;
const warmUp: Ask = { ...ask, script: 'words-64' };

async function measure(streams: number, goals: SlowGoals, setting: Setting) {
  const { lab, targets: wanted, deadlineMs, isQuick, warmUpRequests: requests } = setting;
  const targets = await startTargets(lab, wanted);
  const generator = await LoadGenerator.start(lab);
  const waves = new Map<TargetName, Wave[]>([...targets.keys()].map((name) => [name, []]));
  for (const target of targets.values()) {
    await generator.run({ ...jobOf({ target, ask: warmUp }), requests, concurrency: 16 });
    await generator.run({ ...jobOf({ target, ask }), requests: 60, concurrency: 60 });
  }
  const rounds = isQuick ? 1 : lab.against === undefined ? Math.min(3, setting.rounds) : setting.rounds;
  for (let round = 0; round < rounds && (round === 0 || performance.now() < deadlineMs); round += 1) {
    const order = [...targets];
    for (const [name, target] of round % 2 === 0 ? order : order.toReversed())
      waves.get(name)?.push(await wave(streams, target, generator));
  }
  return report(goals, waves);
}

async function wave(streams: number, target: Target, generator: LoadGenerator): Promise<Wave> {
  const pids = await treeOf(target.pid);
  const idle = await memoryOfTree(target.pid);
  const before = total(await threadTimes(pids));
  const job = { ...jobOf({ target, ask }), requests: streams, concurrency: streams, rampMs };
  const load: Promise<JobResult> = generator.run(job);
  const peak = await peakDuring(target.pid, load);
  const { delayMs, firstByteMs } = await load;
  return {
    cpuMicros: ((total(await threadTimes(pids)) - before) * 1000) / streams,
    delayP50: delayMs?.p50 ?? NaN,
    delayP99: delayMs?.p99 ?? NaN,
    delayMax: delayMs?.max ?? NaN,
    firstByteMs: firstByteMs.p50,
    rssKb: ((peak.rssMb - idle.rssMb) * 1024) / streams,
  };
}

function report(goals: SlowGoals, waves: ReadonlyMap<TargetName, readonly Wave[]>) {
  const rows = [...waves].map(([line, all]) => {
    const cpu = all.map(cpuOf);
    const range = { leastMicros: Math.min(...cpu), mostMicros: Math.max(...cpu) };
    return { line, rounds: all.length, ...range, ...medians(all) };
  });
  const cpuIn = (name: TargetName) => (waves.get(name) ?? []).map(cpuOf);
  const ratioOf = (name: TargetName, other: TargetName) => pairedRatio(cpuIn(name), cpuIn(other));
  const passThrough = rows.find(({ line }) => line === 'pass-through');
  const latest = (passThrough?.delayP50 ?? NaN) + (goals.addedMs ?? NaN);
  const cells = rows.map((row) => {
    const isOurs = row.line === 'gateway';
    return [
      row.line,
      row.cpuMicros.toFixed(0),
      row.leastMicros.toFixed(0),
      row.mostMicros.toFixed(0),
      against(ratioOf(row.line, 'pass-through'), isOurs ? goals.passThrough : undefined),
      against(ratioOf(row.line, 'portkey'), isOurs ? goals.portkey : undefined),
      `${row.delayP50.toFixed(2)}${isOurs ? mark(row.delayP50, latest) : ''}`,
      row.delayP99.toFixed(2),
      `${row.delayMax.toFixed(1)}${isOurs ? mark(row.delayMax, lateAfterMs) : ''}`,
      row.firstByteMs.toFixed(1),
      `${row.rssKb.toFixed(0)}${isOurs ? mark(row.rssKb, goals.rssKb) : ''}`,
    ];
  });
  const pairs = pairsOf(new Map([...waves].map(([name, all]) => [name, all.map(cpuOf)])));
  return { text: table(header, cells) + pairTable(pairs), rows, pairs };
}

const header = [
  'who',
  'CPU µs a stream',
  'least',
  'most',
  'of pass-through',
  'of portkey',
  'delay ms p50',
  'p99',
  'latest',
  'first byte ms',
  'RSS kB a stream',
];

/** An event that comes later than this is one that a reader notices. */
const lateAfterMs = 1000;

function medians(waves: readonly Wave[]): Wave {
  const middle = (field: keyof Wave) => median(waves.map((each) => each[field]));
  return {
    cpuMicros: middle('cpuMicros'),
    delayP50: middle('delayP50'),
    delayP99: middle('delayP99'),
    delayMax: middle('delayMax'),
    firstByteMs: middle('firstByteMs'),
    // What the first wave has grown the heap by, the others find there.
    rssKb: Math.max(...waves.map(({ rssKb }) => rssKb)),
  };
}

function total(times: ReadonlyMap<number, number>): number {
  return [...times.values()].reduce((sum, ms) => sum + ms, 0);
}
