import { setTimeout as sleep } from 'node:timers/promises';
import { pairsOf, pairTable, type Measure } from '../report/pair-table.js';
import { median } from '../report/statistics.js';
import { mark, table } from '../report/table.js';
import type { Section, Setting } from './section.js';
import {
  cpuMsOf,
  majorOf,
  memoryOf,
  placesIn,
  startIn,
  variantsOn,
  type Begun,
  type Variant,
} from './starts.js';

/** Start of a process: from its spawn to its first answer, and what it then keeps. */
export const start: Section = {
  name: 'start',
  title: 'from spawn to the first answer; CPU and memory 1 s after it, and after 12 s without a request',
  weight: 8,
  run: measure,
};

const idleMs = 12_000;

/** One start; what is not measured of a variant is NaN. */
interface Start {
  readonly firstAnswerMs: number;
  /** User and system time from the spawn to the first answer. */
  readonly cpuMs: number;
  readonly laterCpuMs: number;
  /** With the garbage of the start. */
  readonly laterRssMb: number;
  readonly idleCpuMs: number;
  /** When V8 has given back what it does not need. */
  readonly idleRssMb: number;
}

/** Starts of a variant by build. */
type Starts = ReadonlyMap<string, readonly Start[]>;

async function measure(setting: Setting) {
  const { lab, isQuick, deadlineMs } = setting;
  const upstream = await lab.forkServer('test/bench/upstream/process.js');
  const places = await placesIn(lab, upstream.origin);
  const variants = variantsOn(lab.version);
  const all = new Map(
    variants.map((each) => [each, new Map(places.map(({ line }) => [line, [] as Start[]]))]),
  );
  const rounds = isQuick ? 1 : Math.max(5, lab.against === undefined ? 0 : setting.rounds);
  for (let round = 0; round < rounds && (round === 0 || performance.now() < deadlineMs); round += 1)
    for (const [variant, starts] of all) {
      const order = round % 2 === 0 ? places : places.toReversed();
      const begun: Begun[] = [];
      for (const place of order) begun.push(await startIn(place, variant));
      for (const each of await watched(begun, variant)) starts.get(each.line)?.push(each);
      for (const { target } of begun) await lab.stop(target.pid);
    }
  return reportOf(all, lab.version);
}

/** Builds idle beside each other, so that a round does not take 12 s for each. */
async function watched(begun: readonly Begun[], { isWatched }: Variant) {
  if (isWatched) await sleep(idleMs);
  return Promise.all(
    begun.map(async ({ target, ...measured }) => ({
      ...measured,
      idleCpuMs: isWatched ? await cpuMsOf(target) : NaN,
      idleRssMb: isWatched ? await memoryOf(target) : NaN,
    })),
  );
}

function reportOf(all: ReadonlyMap<Variant, Starts>, version: string) {
  const goals = goalsOn(version);
  const cells = [...all].flatMap(([{ name, isWatched }, starts]) =>
    [...starts].map(([line, each]) => {
      const own = line === 'gateway' && isWatched ? goals : undefined;
      return [`${line}${name}`, ...cellsOf(each, own)];
    }),
  );
  const pairs = [...all].flatMap(([variant, starts]) =>
    measuresOf(variant).map((each) => pairedBy(each, starts)),
  );
  return {
    text: [table(header, cells), ...pairs.map(({ text }) => text)].join(''),
    rows: [...all].flatMap(([{ name }, starts]) =>
      [...starts].map(([line, each]) => ({ line, name, starts: each })),
    ),
    pairs: pairs.flatMap((each) => each.pairs),
  };
}

const header = [
  'who',
  'first answer ms',
  'least',
  'most',
  'CPU ms until then',
  'CPU ms 1 s later',
  'RSS MB 1 s later',
  'CPU ms after 12 s',
  'RSS MB after 12 s',
];

function cellsOf(starts: readonly Start[], goals: Partial<Goals> = {}): readonly string[] {
  const answers = starts.map(({ firstAnswerMs }) => firstAnswerMs);
  const middle = (field: keyof Start) => median(starts.map((each) => each[field]));
  const cell = (field: keyof Goals | keyof Start) => {
    const value = middle(field);
    const goal = field in goals ? goals[field as keyof Goals] : undefined; // it is one of them
    return Number.isNaN(value) ? '–' : `${value.toFixed(0)}${mark(value, goal)}`;
  };
  const range = [Math.min(...answers), Math.max(...answers)].map((each) => each.toFixed(0));
  return [cell('firstAnswerMs'), ...range, ...later.map(cell)];
}

const later = ['cpuMs', 'laterCpuMs', 'laterRssMb', 'idleCpuMs', 'idleRssMb'] as const;

type Goals = Pick<Start, 'firstAnswerMs' | 'laterRssMb' | 'idleRssMb'>;

function goalsOn(version: string): Partial<Goals> {
  if (majorOf(version) < 24) return { firstAnswerMs: 600 };
  return { firstAnswerMs: 450, laterRssMb: 130, idleRssMb: 110 };
}

interface StartMeasure extends Measure {
  readonly field: keyof Start;
}

function measuresOf({ name, isWatched }: Variant): readonly StartMeasure[] {
  const cpu = { name: `CPU to the first answer${name}`, unit: 'ms', field: 'cpuMs' } as const;
  if (!isWatched) return [cpu];
  return [
    cpu,
    { name: 'RSS 1 s later', unit: 'MB', field: 'laterRssMb' },
    { name: 'RSS after 12 s', unit: 'MB', field: 'idleRssMb' },
  ];
}

function pairedBy(measured: StartMeasure, starts: Starts) {
  const values = [...starts].map(([line, each]) => [line, each.map((one) => one[measured.field])] as const);
  const pairs = pairsOf(new Map(values));
  return {
    text: pairTable(pairs, measured),
    pairs: pairs.map((pair) => ({ ...pair, line: `${pair.line}: ${measured.name}` })),
  };
}
