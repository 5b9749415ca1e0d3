import type { Candidate } from '../../../plugin/index.js';
import type { SlotEntry } from '../pool/slot-entry.js';

/** Built-in policies to pick a slot; each call creates one with its own turn. */
export const builtinPolicies: Readonly<Record<string, () => BuiltinPolicy>> = {
  'least-loaded': leastLoaded,
  'round-robin': roundRobin,
  priority: () => first,
};

/** Policy based on the candidates alone, which never declines. */
type BuiltinPolicy = (candidates: readonly Candidate[]) => Candidate;

/**
 * Picks the min in-flight per weight, with a penalty for a slot that answers late; ties take turns in the order of the
 * config.
 */
function leastLoaded(): BuiltinPolicy {
  let last = -1;
  return (candidates) => {
    const loads = weighedLoads(candidates);
    const least = Math.min(...loads);
    const tied = candidates.filter((_, at) => loads[at] === least);
    const picked = tied.find(({ order }) => order > last) ?? first(tied);
    last = picked.order;
    return picked;
  };
}

/**
 * Weighted round robin: a slot of weight 2 is picked twice as often as one of weight 1, but not in a row if
 * others are free.
 */
function roundRobin(): BuiltinPolicy {
  const credit = new Map<string, number>();
  const creditOf = ({ id }: Candidate): number => credit.get(id) ?? 0;
  return (candidates) => {
    for (const candidate of candidates) credit.set(candidate.id, creditOf(candidate) + candidate.weight);
    const picked = candidates.reduce((best, next) => (creditOf(next) > creditOf(best) ? next : best));
    const shared = candidates.reduce((sum, { weight }) => sum + weight, 0);
    credit.set(picked.id, creditOf(picked) - shared);
    return picked;
  };
}

/** First candidate in the order of the config. */
function first(candidates: readonly Candidate[]): Candidate {
  return candidates.reduce((best, next) => (next.order < best.order ? next : best));
}

/** Load of a candidate; also used to pick a slot without a policy. */
function load({ inFlight, weight }: Pick<Candidate, 'inFlight' | 'weight'>): number {
  return inFlight / weight;
}

/** Load of each candidate, with a handicap for one whose first tokens come at least twice as late as the fastest one's. */
function weighedLoads(candidates: readonly Candidate[]): readonly number[] {
  let fastestMs = Infinity;
  for (const { firstTokenMs = Infinity } of candidates)
    if (firstTokenMs < fastestMs) fastestMs = firstTokenMs;
  return candidates.map((candidate) => load(candidate) + handicap(candidate, fastestMs) / candidate.weight);
}

/** Penalty of a slow slot, in requests: its slowness as a multiple of the fastest one. */
function handicap({ firstTokenMs = 0 }: Candidate, fastestMs: number): number {
  const isSlow = firstTokenMs >= 2 * fastestMs && firstTokenMs - fastestMs >= noticeableMs;
  return isSlow ? Math.min(maxHandicap, firstTokenMs / Math.max(1, fastestMs) - 1) : 0;
}

/** Min difference that counts: below it, slots take turns. */
const noticeableMs = 500;
const maxHandicap = 8;

/** Slot with the min in-flight per weight. */
export function leastLoadedSlot(entries: readonly SlotEntry[]): SlotEntry | undefined {
  return entries.toSorted((a, b) => loadOf(a) - loadOf(b))[0];
}

function loadOf({ permits, config: { weight } }: SlotEntry): number {
  return load({ inFlight: permits.claimed, weight });
}

/** Max requests that may wait for these slots. */
export function queueCapacity(entries: readonly SlotEntry[]): number {
  return entries.reduce((sum, { config }) => sum + config.maxConcurrent, 0) * maxWaitingPerPermit;
}

const maxWaitingPerPermit = 10;
