import type { Candidate, PickPolicy } from '../../../plugin/index.js';
import type { PickedCall } from '../../../plugin/core.js';
import type { WaysOut } from '../health/ways-out.js';
import type { SlotEntry, WantedModel } from '../pool/slot-entry.js';

/** Needs of one request, and the slots that it has tried. */
export interface Wanted {
  readonly model: WantedModel;
  readonly policy: PickPolicy;
  readonly call: PickedCall;
  /** True if a slot has room for this request. */
  readonly hasRoom: (entry: SlotEntry) => boolean;
  /** Slot of the sticky key, which is waited for if it can serve. */
  readonly bound: SlotEntry | undefined;
  /** Preferred slot, used if it has room. */
  readonly preferred: SlotEntry | undefined;
  /** Preferred slot that may be probed during its cooldown, since its named wait is over. */
  readonly awaited: SlotEntry | undefined;
  /** Slots that have failed the request, in order; true if an immediate retry there makes sense. */
  readonly tried: ReadonlyMap<SlotEntry, boolean>;
  readonly waysOut: WaysOut;
  /** Organization that the session stays with, as long as one of its slots can serve; undefined: none. */
  readonly organization?: string | undefined;
  /** Notified of the inputs of the choice; absent without an observer. */
  readonly observe?: ((sorted: Sorted) => void) | undefined;
}

/** Slots as a choice has sorted them, and its result. */
export interface Sorted {
  readonly entries: readonly SlotEntry[];
  /** Slots that serve the model and take requests. */
  readonly ready: readonly SlotEntry[];
  /** Ready slots that have not failed the request. */
  readonly fresh: readonly SlotEntry[];
  readonly choice: Choice;
}

/** Slot and failed slots of the calls that a request has made before. */
export interface Earlier {
  readonly entry: SlotEntry | undefined;
  readonly tried: readonly SlotEntry[];
}

export const noEarlier: Earlier = { entry: undefined, tried: [] };

/** Choice: a slot with room, slots to wait for, none by the policy, or none that can serve the request. */
export type Choice =
  | { readonly kind: 'take'; readonly entry: SlotEntry }
  | { readonly kind: 'wait'; readonly entries: readonly SlotEntry[] }
  | { readonly kind: 'declined' }
  | { readonly kind: 'none' };

/**
 * Chooses the next slot: the bound one, else an untried one, else a retry in the first one tried, if that
 * makes sense. Cooling slots come after all others, for a model that no other slot serves; slots with an exhausted
 * window never.
 */
export function choose(wanted: Wanted, entries: readonly SlotEntry[], nowMs: number): Choice {
  const { model, tried } = wanted;
  const ready = entries.filter((entry) => entry.serves(model) && entry.isSchedulable(model, nowMs));
  const isFresh = (entry: SlotEntry): boolean => !tried.has(entry);
  const fresh = tried.size > 0 ? ready.filter(isFresh) : ready;
  const sorted = { entries, ready, fresh };
  const choice = chooseSorted(wanted, sorted, nowMs);
  wanted.observe?.({ ...sorted, choice });
  return choice;
}

function chooseSorted(
  wanted: Wanted,
  { entries, ready, fresh }: Omit<Sorted, 'choice'>,
  nowMs: number,
): Choice {
  const { model, bound, preferred, awaited, tried, hasRoom } = wanted;
  const mayAsk = (entry: SlotEntry): boolean =>
    ready.includes(entry) || (entry === awaited && isAskedAnyway(entry, model, nowMs));
  if (preferred && mayAsk(preferred) && hasRoom(preferred)) return { kind: 'take', entry: preferred };
  const chooseFrom = chooser(hasRoom);
  const keepsBound = bound && fresh.includes(bound) && !isDetoured(bound, fresh, wanted, nowMs);
  const choice =
    (keepsBound ? chooseFrom([bound], first) : undefined) ??
    chooseByPolicy(nearest(fresh, wanted, nowMs), wanted, nowMs);
  if (choice) return choice;
  const cooling = coolest(entries, model, nowMs);
  const again = [...tried.keys()].filter((entry) => tried.get(entry) === true);
  return (
    chooseFrom(again.filter((entry) => ready.includes(entry)).slice(0, 1), first) ??
    chooseFrom(
      cooling.filter((entry) => !tried.has(entry)),
      first,
    ) ??
    chooseFrom(again.filter((entry) => cooling.includes(entry)).slice(0, 1), first) ?? { kind: 'none' }
  );
}

/** Slots of the session's organization; all of them if none of those can be reached. */
function nearest(
  entries: readonly SlotEntry[],
  { organization, waysOut }: Wanted,
  nowMs: number,
): readonly SlotEntry[] {
  if (organization === undefined) return entries;
  const own = entries.filter(
    (entry) => entry.organization === organization && !waysOut.isFailing(entry.config.proxy, nowMs),
  );
  return own.length > 0 ? own : entries;
}

type Pick = (free: readonly SlotEntry[]) => SlotEntry | undefined;

/** Creates a function that chooses from slots; it returns undefined if there are none. */
function chooser(
  hasRoom: Wanted['hasRoom'],
): (entries: readonly SlotEntry[], pickOne: Pick) => Choice | undefined {
  return (entries, pickOne) => {
    if (entries.length === 0) return undefined;
    const entry = pickOne(entries.filter(hasRoom));
    return entry ? { kind: 'take', entry } : { kind: 'wait', entries };
  };
}

function first(free: readonly SlotEntry[]): SlotEntry | undefined {
  return free[0];
}

/** Choice of the policy. Throws if that is a slot that is not a candidate. */
function chooseByPolicy(
  entries: readonly SlotEntry[],
  { policy, call, model, hasRoom, waysOut }: Wanted,
  nowMs: number,
): Choice | undefined {
  if (entries.length === 0) return undefined;
  const free = reachable(entries.filter(hasRoom), waysOut, nowMs);
  if (free.length === 0) return { kind: 'wait', entries };
  const picked = policy(
    free.map((entry) => toCandidate(entry, model, nowMs)),
    call,
  );
  if (!picked) return { kind: 'declined' };
  const entry = free.find(({ id }) => id === picked.id);
  if (entry) return { kind: 'take', entry };
  throw new Error(`The picking policy returned "${picked.id}", which is not among the candidates.`);
}

/** Slots with a working proxy; all of them if there are none. */
function reachable(entries: readonly SlotEntry[], waysOut: WaysOut, nowMs: number): readonly SlotEntry[] {
  if (waysOut.areWorking) return entries;
  const working = entries.filter(({ config }) => !waysOut.isFailing(config.proxy, nowMs));
  return working.length > 0 ? working : entries;
}

/** True if the proxy of a slot is failing, and another slot with room has a working one. */
function isDetoured(
  entry: SlotEntry,
  fresh: readonly SlotEntry[],
  { hasRoom, waysOut }: Wanted,
  nowMs: number,
): boolean {
  return (
    !waysOut.areWorking &&
    waysOut.isFailing(entry.config.proxy, nowMs) &&
    fresh.some((other) => hasRoom(other) && !waysOut.isFailing(other.config.proxy, nowMs))
  );
}

function toCandidate(entry: SlotEntry, model: WantedModel, nowMs: number): Candidate {
  const {
    id,
    order,
    permits,
    firstTokens,
    config: { weight },
  } = entry;
  const firstTokenMs = firstTokens.recentMs(entry.upstreamModel(model), nowMs);
  return { id, weight, inFlight: permits.claimed, order, firstTokenMs };
}

/**
 * True for a cooling slot that is tried as a last resort: an exhausted window refuses for sure, and a provider that has
 * named a long wait is probed once a minute.
 */
function isAskedAnyway(entry: SlotEntry, model: WantedModel, nowMs: number): boolean {
  const cooldown = entry.cooldownFor(model, nowMs);
  return cooldown !== undefined && cooldown.reason !== 'window_exhausted' && entry.mayBeAsked(model, nowMs);
}

/** Cooling slots that serve the model, the earliest end first, without exhausted windows. */
function coolest(entries: readonly SlotEntry[], model: WantedModel, nowMs: number): readonly SlotEntry[] {
  return entries
    .filter((entry) => entry.serves(model) && isAskedAnyway(entry, model, nowMs))
    .map((entry) => ({ entry, cooldown: entry.cooldownFor(model, nowMs) }))
    .toSorted((a, b) => (a.cooldown?.untilMs ?? 0) - (b.cooldown?.untilMs ?? 0))
    .map(({ entry }) => entry);
}
