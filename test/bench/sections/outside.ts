import { LoadGenerator } from '../load/generator.js';
import { built, type Lab } from '../measure/lab.js';
import { threadTimes, treeOf } from '../measure/proc.js';
import { jobOf } from '../measure/rounds.js';
import { median } from '../report/statistics.js';
import { mark, table } from '../report/table.js';
import { startGateway } from '../targets/gateway.js';
import { plainTarget } from '../targets/plain.js';
import type { Target } from '../targets/target.js';
import type { Ask } from '../workloads.js';
import type { Section, Setting } from './section.js';

/** CPU time that a call of a remote stage adds to a request, the service not counted. */
export const remoteCalls: Section = {
  name: 'remote',
  title: 'a call of a remote stage: CPU that it adds to the gateway',
  weight: 2,
  isLong: true,
  run: (setting) => measure(setting, remoteCost),
};

/** CPU time that a batch of events through a child process adds to the gateway, and takes there. */
export const isolatedBatches: Section = {
  name: 'isolated',
  title: 'a delta through a stage in a child process: CPU that it adds to the gateway, and of the child',
  weight: 3,
  isLong: true,
  run: async (setting) => {
    const { version } = setting.lab;
    if (isAtLeast(version, [22, 15])) return measure(setting, isolatedCost);
    return { text: `Not measured: such stages need Node 22.15, and this is ${version}.`, rows: [] };
  },
};

/** True for a version such as `v22.15.0` that is not older. */
function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [ownMajor = 0, ownMinor = 0] = version.slice(1).split('.').map(Number);
  return ownMajor > major || (ownMajor === major && ownMinor >= minor);
}

/** A stage and the load that shows what it costs. */
interface StageCost {
  readonly stage: (upstream: string) => object;
  /** Divides the CPU time of a request. */
  readonly unitsOfRequest: number;
  readonly loads: readonly Load[];
}

interface Load {
  readonly name: string;
  readonly ask: Ask;
  readonly concurrency: number;
  readonly requests: number;
  /** Max µs of the gateway and of its children; undefined: none is set. */
  readonly goals: { readonly own: number; readonly children?: number } | undefined;
}

const small: Ask = { format: 'messages', isStream: true, script: 'words-1' };
const ticks: Ask = { ...small, script: 'ticks-250' };
const steps: Ask = { ...small, script: 'steps-250' };

const remoteCost: StageCost = {
  stage: (upstream) => ({ use: 'remote', with: { url: `${upstream}/allow`, on: ['request'] } }),
  unitsOfRequest: 1,
  loads: [
    { name: 'one at a time', ask: small, concurrency: 1, requests: 1500, goals: { own: 150 } },
    { name: '64 at a time', ask: small, concurrency: 64, requests: 3000, goals: { own: 150 } },
  ],
};

const isolatedCost: StageCost = {
  stage: () => ({ use: built('test/bench/targets/reading-stage.js'), isolate: true }),
  unitsOfRequest: 250,
  loads: [
    { name: 'one stream', ask: ticks, concurrency: 1, requests: 1, goals: undefined },
    {
      name: '200 streams, each at times of its own',
      ask: ticks,
      concurrency: 200,
      requests: 200,
      goals: undefined,
    },
    {
      name: '200 streams, all at the same times',
      ask: steps,
      concurrency: 200,
      requests: 200,
      goals: { own: 8, children: 6 },
    },
  ],
};

/** CPU µs a unit. */
interface Cost {
  readonly own: number;
  readonly children: number;
}

interface Row {
  readonly load: Load;
  readonly without: Cost;
  readonly with: Cost;
  /** Medians of what the stage adds in a round. */
  readonly added: Cost;
}

async function measure(setting: Setting, cost: StageCost) {
  const { lab, deadlineMs, warmUpRequests: requests, rounds } = setting;
  const [bare, staged] = await startBoth(lab, cost);
  const generator = await LoadGenerator.start(lab);
  for (const target of [bare, staged])
    await generator.run({ ...jobOf({ target, ask: small }), requests, concurrency: 64 });
  const all = new Map<Load, { readonly bare: Cost; readonly staged: Cost }[]>();
  for (let round = 0; round < rounds && (round === 0 || performance.now() < deadlineMs); round += 1) {
    for (const load of cost.loads) {
      const run = (target: Target) => runLoad(target, generator, { cost, load });
      const isFirst = round % 2 === 0;
      const early = await run(isFirst ? bare : staged);
      const late = await run(isFirst ? staged : bare);
      const pair = isFirst ? { bare: early, staged: late } : { bare: late, staged: early };
      all.set(load, [...(all.get(load) ?? []), pair]);
    }
  }
  return report([...all].map(([load, pairs]) => rowOf(load, pairs)));
}

/** The gateway without the stage, and with it. */
async function startBoth(lab: Lab, { stage }: StageCost): Promise<readonly [Target, Target]> {
  const { origin } = plainTarget(await lab.forkServer('test/bench/upstream/process.js'));
  return [
    await startGateway(lab, origin, { store: 'memory' }),
    await startGateway(lab, origin, { store: 'memory', stages: [stage(origin)] }),
  ];
}

async function runLoad(
  target: Target,
  generator: LoadGenerator,
  { cost, load }: { readonly cost: StageCost; readonly load: Load },
): Promise<Cost> {
  const { ask, requests, concurrency } = load;
  const before = await timesOf(target);
  const rampMs = cost.unitsOfRequest > 1 ? 1000 : 0;
  await generator.run({ ...jobOf({ target, ask }), requests, concurrency, rampMs });
  const after = await timesOf(target);
  const micros = (ms: number) => (ms * 1000) / (requests * cost.unitsOfRequest);
  return { own: micros(after.own - before.own), children: micros(after.children - before.children) };
}

/** CPU milliseconds of the gateway, and of what it has started. */
async function timesOf({ pid }: Target): Promise<Cost> {
  const children = (await treeOf(pid)).filter((each) => each !== pid);
  return { own: total(await threadTimes([pid])), children: total(await threadTimes(children)) };
}

function total(times: ReadonlyMap<number, number>): number {
  return [...times.values()].reduce((sum, ms) => sum + ms, 0);
}

function rowOf(load: Load, pairs: readonly { readonly bare: Cost; readonly staged: Cost }[]): Row {
  const middle = (of: (pair: (typeof pairs)[number]) => number) => median(pairs.map(of));
  return {
    load,
    without: { own: middle(({ bare }) => bare.own), children: middle(({ bare }) => bare.children) },
    with: { own: middle(({ staged }) => staged.own), children: middle(({ staged }) => staged.children) },
    added: {
      own: middle(({ bare, staged }) => staged.own - bare.own),
      children: middle(({ bare, staged }) => staged.children - bare.children),
    },
  };
}

function report(rows: readonly Row[]) {
  const hasChildren = rows.some(({ with: staged }) => staged.children > 0);
  const cells = rows.map(({ load: { name, goals }, without, with: staged, added }) => [
    name,
    without.own.toFixed(1),
    staged.own.toFixed(1),
    `${added.own.toFixed(1)}${mark(added.own, goals?.own)}`,
    ...(hasChildren ? [`${added.children.toFixed(1)}${mark(added.children, goals?.children)}`] : []),
  ]);
  const header = ['load', 'CPU µs without', 'with', 'added', ...(hasChildren ? ['in the child'] : [])];
  return { text: table(header, cells), rows };
}
