import type { LoadGenerator } from '../load/generator.js';
import type { Job } from '../load/job.js';
import type { Target } from '../targets/target.js';
import type { Ask } from '../workloads.js';
import { memoryOfTree, threadTimes, treeOf } from './proc.js';
import { threadKinds, timesByKind, type ThreadKind } from './thread-kinds.js';

/** Target that is measured, and its requests. */
export interface Contender {
  readonly name: string;
  readonly target: Target;
  readonly ask: Ask;
  /** A round. */
  readonly requests: number;
}

/** Cost of one round of a contender. */
export interface Cost {
  /** User and system time of its processes, a request. */
  readonly cpuMicros: number;
  /** That of its busiest thread, which is what bounds its throughput where there are cores enough. */
  readonly busiestMicros: number;
  /** That of its threads by kind, as far as they have names. */
  readonly threadMicros: Readonly<Partial<Record<ThreadKind, number>>>;
  /** The load generator's own, a request. */
  readonly loadMicros: number;
  readonly requestsPerSecond: number;
  readonly firstByteMs: number;
  readonly rssMb: number;
}

/** All rounds of each contender, by its name. */
export type Costs = ReadonlyMap<string, readonly Cost[]>;

export interface Bounds {
  readonly rounds: number;
  /** No round but the first begins after it, by `performance.now()`. */
  readonly deadlineMs: number;
  /** Requests to each contender before its first round. */
  readonly warmUpRequests: number;
}

/** A B C, C B A, …: what disturbs the machine for a while disturbs all of them, and none comes first always. */
export async function interleave(
  contenders: readonly Contender[],
  generator: LoadGenerator,
  { rounds, deadlineMs, warmUpRequests }: Bounds,
): Promise<Costs> {
  const costs = new Map(contenders.map(({ name }) => [name, [] as Cost[]]));
  const warmUpRounds = warmUpRoundsOf(contenders, warmUpRequests);
  for (let round = 0; round < warmUpRounds; round += 1) {
    for (const contender of contenders) await measureRound(contender, generator);
  }
  for (let round = 0; round < rounds && (round === 0 || performance.now() < deadlineMs); round += 1) {
    for (const contender of round % 2 === 0 ? contenders : contenders.toReversed())
      costs.get(contender.name)?.push(await measureRound(contender, generator));
  }
  return costs;
}

/** All have as many rounds; one that has fewer requests a round than others has fewer to warm up. */
function warmUpRoundsOf(contenders: readonly Contender[], requests: number): number {
  return Math.ceil(requests / Math.max(...contenders.map((contender) => contender.requests)));
}

/** Job of the load generator for a contender, without the number of requests. */
export function jobOf({
  target,
  ask,
}: Pick<Contender, 'target' | 'ask'>): Omit<Job, 'requests' | 'concurrency'> {
  return { origin: target.origin, ...target.address(ask), ask };
}

/** Requests at a time in a round. */
export const concurrency = 16;

async function measureRound(contender: Contender, generator: LoadGenerator): Promise<Cost> {
  const { target, requests } = contender;
  const pids = await treeOf(target.pid);
  const before = await threadTimes(pids);
  const result = await generator.run({ ...jobOf(contender), requests, concurrency });
  const after = await threadTimes(pids);
  const spent = new Map(
    [...after].map(([thread, ms]) => [thread, ((ms - (before.get(thread) ?? 0)) * 1000) / requests]),
  );
  return {
    cpuMicros: [...spent.values()].reduce((sum, each) => sum + each, 0),
    busiestMicros: Math.max(...spent.values()),
    threadMicros: timesByKind(spent, await threadKinds(pids)),
    loadMicros: (result.cpuMs * 1000) / requests,
    requestsPerSecond: (requests * 1000) / result.wallMs,
    firstByteMs: result.firstByteMs.p50,
    rssMb: (await memoryOfTree(target.pid)).rssMb,
  };
}
