import type { SlotFailure } from '../../../plugin/core.js';
import type { Cooldown } from '../health/cooldowns.js';
import type { SlotEntry, WantedModel } from '../pool/slot-entry.js';
import type { Sorted, Wanted } from './choose.js';

/** Reason why a slot was not taken for a call. */
export type NotTaken =
  /** Excluded by the option `slots` of the stage. */
  | 'not_of_stage'
  /** Excluded by the caller's key. */
  | 'not_of_key'
  /** Missing price of the model, with a budget that counts the cost. */
  | 'no_price'
  /** Other organization than that of the thinking in the session's tool loop. */
  | 'other_organization'
  | 'model_not_served'
  | 'paused'
  | 'draining'
  | 'rejected'
  | 'cooling'
  /** Earlier failure of this request there. */
  | 'has_failed'
  /** Full: no permit is free, or a longer-waiting request comes first. */
  | 'full'
  /** Failed connections by its proxy, so that others are asked first. */
  | 'proxy_failed'
  /** Binding of the session to another one. */
  | 'bound_elsewhere'
  /** Choice of another one, or of none, by the policy. */
  | 'policy';

export interface ObservedCooldown {
  readonly reason: string;
  readonly untilMs: number;
  /** Time from which one request at a time probes the slot. */
  readonly checkAtMs: number;
  readonly cause?: SlotFailure;
}

/** A slot as one choice has seen it. */
export interface ObservedSlot {
  readonly slot: string;
  /** Slot's own name of the model, if it differs from the catalog's. */
  readonly upstreamModel?: string;
  /** Absent: it was taken. */
  readonly notTaken?: NotTaken;
  /** Reason, end and cause of a cooldown; times in unix milliseconds. */
  readonly cooldown?: ObservedCooldown;
  /** Last failure of the slot. */
  readonly lastError?: string;
  readonly inFlight: number;
  readonly maxConcurrent: number;
}

/** Choice of a slot for one call. */
export interface ObservedChoice {
  /** Catalog id of the model, or its name if the catalog has none. */
  readonly model: string;
  /** Catalog's name for upstreams. */
  readonly upstreamModel: string;
  /** `wait`: for a permit of those that are full. */
  readonly result: 'taken' | 'wait' | 'declined' | 'none';
  readonly slot?: string;
  /** Slot that the session is bound to. */
  readonly bound?: string;
  readonly slots: readonly ObservedSlot[];
}

/** Notified of each choice of a slot. */
export type OnChoice = (choice: ObservedChoice) => void;

/** Report on a choice, from the results of `choose`. */
export function observedChoice(sorted: Sorted, wanted: Wanted, nowMs: number): ObservedChoice {
  const { choice, entries } = sorted;
  const taken = choice.kind === 'take' ? choice.entry : undefined;
  return {
    model: wanted.model.id,
    upstreamModel: wanted.model.upstreamModel,
    result: choice.kind === 'take' ? 'taken' : choice.kind,
    ...(taken && { slot: taken.id }),
    ...(wanted.bound && { bound: wanted.bound.id }),
    slots: entries.map((entry) => {
      const notTaken = entry === taken ? undefined : reasonOf(entry, sorted, wanted, nowMs);
      return observedSlot(entry, wanted.model, nowMs, notTaken);
    }),
  };
}

/** A slot as a choice has seen it, with its cooldown for the model. */
export function observedSlot(
  entry: SlotEntry,
  model: Pick<WantedModel, 'id' | 'upstreamModel'>,
  nowMs: number,
  notTaken: NotTaken | undefined,
): ObservedSlot {
  const cooldown = entry.cooldownFor(model, nowMs);
  const upstreamModel = entry.upstreamModel(model);
  return {
    slot: entry.id,
    ...(upstreamModel !== model.upstreamModel && { upstreamModel }),
    ...(notTaken && { notTaken }),
    ...(cooldown && { cooldown: observedCooldown(cooldown) }),
    ...(entry.lastError && { lastError: entry.lastError.message }),
    inFlight: entry.inFlight,
    maxConcurrent: entry.config.maxConcurrent,
  };
}

function observedCooldown({ reason, untilMs, checkAtMs, cause }: Cooldown): ObservedCooldown {
  return { reason, untilMs, checkAtMs, ...(cause && { cause }) };
}

function reasonOf(
  entry: SlotEntry,
  { ready, fresh, choice }: Sorted,
  wanted: Wanted,
  nowMs: number,
): NotTaken {
  if (!ready.includes(entry)) return closedReason(entry, wanted.model, nowMs);
  if (!fresh.includes(entry)) return 'has_failed';
  if (!wanted.hasRoom(entry)) return 'full';
  if (!wanted.waysOut.areWorking && wanted.waysOut.isFailing(entry.config.proxy, nowMs))
    return 'proxy_failed';
  const isBound = choice.kind !== 'declined' && wanted.bound !== undefined && fresh.includes(wanted.bound);
  return isBound ? 'bound_elsewhere' : 'policy';
}

function closedReason(entry: SlotEntry, model: WantedModel, nowMs: number): NotTaken {
  if (!entry.serves(model)) return 'model_not_served';
  const state = entry.state(nowMs);
  return state === 'ready' ? 'cooling' : state; // ready as a whole: this model of it is cooling
}
