import { bodyOf } from '../load/bodies.js';
import type { LoadGenerator } from '../load/generator.js';
import type { JobResult } from '../load/job.js';
import type { Targets } from '../targets/index.js';
import type { Target } from '../targets/target.js';
import type { Line } from '../workloads.js';
import { cpuMsOf, memoryOf, treeOf } from './proc.js';

/** What one round of one line has cost. */
export interface Cost {
  /** User and system time of the target's processes, a request. */
  readonly cpuMicros: number;
  /** The load generator's own, a request. */
  readonly loadMicros: number;
  readonly requestsPerSecond: number;
  readonly firstByteMs: number;
  readonly rssMb: number;
}

/** All rounds of each line, by its name. */
export type Costs = ReadonlyMap<string, readonly Cost[]>;

export interface Plan {
  readonly lines: readonly Line[];
  readonly requestsOf: (line: Line) => number;
  readonly rounds: number;
  /** No round begins after it, by `performance.now()`. */
  readonly deadlineMs: number;
}

/** A B C, A B C, …: what disturbs the machine for a while disturbs all of them. */
export async function interleave(plan: Plan, generator: LoadGenerator, targets: Targets): Promise<Costs> {
  const lines = plan.lines.filter(({ target }) => targets.has(target));
  const costs = new Map(lines.map(({ name }) => [name, [] as Cost[]]));
  const measure = (line: Line, requests: number) =>
    measureLine(line, requests, generator, targetOf(line, targets));
  // What the compiler does late is not measured: the first round of each counts for nothing.
  for (const line of lines) await measure(line, plan.requestsOf(line));
  for (let round = 0; round < plan.rounds && performance.now() < plan.deadlineMs; round += 1) {
    for (const line of lines) costs.get(line.name)?.push(await measure(line, plan.requestsOf(line)));
  }
  return costs;
}

/** How many requests are under way at a time. */
const concurrency = 16;

async function measureLine(
  { ask }: Line,
  requests: number,
  generator: LoadGenerator,
  target: Target,
): Promise<Cost> {
  const pids = await treeOf(target.pid);
  const before = await cpuMsOfAll(pids);
  const job = { origin: target.origin, ...target.address(ask), ...ask, body: bodyOf(ask) };
  const result: JobResult = await generator.run({ ...job, requests, concurrency });
  const after = await cpuMsOfAll(pids);
  const memory = await Promise.all(pids.map(memoryOf));
  return {
    cpuMicros: ((after - before) * 1000) / requests,
    loadMicros: (result.cpuMs * 1000) / requests,
    requestsPerSecond: (requests * 1000) / result.wallMs,
    firstByteMs: result.firstByteMs.p50,
    rssMb: memory.reduce((sum, { rssMb }) => sum + rssMb, 0),
  };
}

async function cpuMsOfAll(pids: readonly number[]): Promise<number> {
  const times = await Promise.all(pids.map(cpuMsOf));
  return times.reduce((sum, time) => sum + time, 0);
}

function targetOf({ target }: Line, targets: Targets): Target {
  const found = targets.get(target);
  if (!found) throw new Error(`There is no ${target}.`);
  return found;
}
