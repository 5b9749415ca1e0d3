import type { Candidate, PickPolicy } from '../../plugin/index.js';
import type { SlotEntry, WantedModel } from '../slot-entry.js';

/** What one request wants, and where it has been. */
export interface Wanted {
  readonly model: WantedModel;
  readonly policy: PickPolicy;
  /** Whether there is room in a slot for this request. */
  readonly hasRoom: (entry: SlotEntry) => boolean;
  /** Where it must go if that can be, waiting for a place: a sticky key's slot. */
  readonly bound: SlotEntry | undefined;
  /** Where it goes if there is room. */
  readonly preferred: SlotEntry | undefined;
  /** The slots that have failed it, in order; true where sending it there again at once makes sense. */
  readonly tried: ReadonlyMap<SlotEntry, boolean>;
}

/** A slot with room; or those to wait for; or none where no slot can serve it. */
export type Choice =
  | { readonly kind: 'take'; readonly entry: SlotEntry }
  | { readonly kind: 'wait'; readonly entries: readonly SlotEntry[] }
  | { readonly kind: 'none' };

/**
 * Where a request goes next: the slot that it is bound to; else one that it has not tried; else the first it tried,
 * where that makes sense. A slot that is cooling down comes after all that are not (design §6 "no other slot serves the
 * model"), one whose window is exhausted never.
 */
export function choose(wanted: Wanted, entries: readonly SlotEntry[], nowMs: number): Choice {
  const { model, bound, preferred, tried, policy, hasRoom } = wanted;
  const ready = entries.filter((entry) => entry.serves(model) && entry.isSchedulable(model, nowMs));
  if (preferred && ready.includes(preferred) && hasRoom(preferred)) return { kind: 'take', entry: preferred };
  const isFresh = (entry: SlotEntry): boolean => !tried.has(entry);
  const place = placer(hasRoom);
  const fresh = tried.size > 0 ? ready.filter(isFresh) : ready;
  const choice =
    (bound && fresh.includes(bound) ? place([bound], first) : undefined) ??
    place(fresh, (free) => pick(policy, free));
  if (choice) return choice;
  const cooling = coolest(entries, model, nowMs);
  const again = [...tried.keys()].filter((entry) => tried.get(entry) === true);
  return (
    place(again.filter((entry) => ready.includes(entry)).slice(0, 1), first) ??
    place(cooling.filter(isFresh), first) ??
    place(again.filter((entry) => cooling.includes(entry)).slice(0, 1), first) ?? { kind: 'none' }
  );
}

type Pick = (free: readonly SlotEntry[]) => SlotEntry | undefined;

/** What it makes gives undefined where there is nothing to choose from. */
function placer(
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

/** Throws where the policy answers with something that it was not asked about. */
function pick(policy: PickPolicy, free: readonly SlotEntry[]): SlotEntry | undefined {
  if (free.length === 0) return undefined;
  const { id } = policy(free.map(toCandidate));
  const picked = free.find((entry) => entry.id === id);
  if (!picked)
    throw new Error(`The picking policy answered with "${id}", which is not among the candidates.`);
  return picked;
}

function toCandidate({ id, order, places, config: { weight } }: SlotEntry): Candidate {
  return { id, weight, inFlight: places.claimed, order };
}

/** Those that only have to wait for a while, the one whose cool-down ends first in front. */
function coolest(entries: readonly SlotEntry[], model: WantedModel, nowMs: number): readonly SlotEntry[] {
  return entries
    .filter((entry) => entry.serves(model))
    .map((entry) => ({ entry, coolDown: entry.coolDownFor(model, nowMs) }))
    .filter(({ coolDown }) => coolDown && coolDown.reason !== 'window_exhausted')
    .toSorted((a, b) => (a.coolDown?.untilMs ?? 0) - (b.coolDown?.untilMs ?? 0))
    .map(({ entry }) => entry);
}
