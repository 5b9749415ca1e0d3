import type { CallFailure, CoolReason } from '../../../plugin/core.js';
import { mayRetryAtOnce, retryAt } from './retry-at.js';
import { exhaustedUntil, isExhausted } from './windows.js';

export interface Cooling {
  /** Scope: the whole slot, or only the requested upstream model. */
  readonly scope: 'slot' | 'model';
  readonly reason: CoolReason;
  /** End given by the upstream; undefined: computed by the slot's backoff. */
  readonly untilMs: number | undefined;
  /** Header that gave the end. */
  readonly header?: string | undefined;
}

/** Effect of a failed call on its slot and its request. */
export interface Effect {
  readonly state: 'untouched' | 'rejected' | Cooling;
  /** True if the same request may succeed in another slot. */
  readonly mayFailOver: boolean;
  /** True if an immediate retry in this slot may succeed. */
  readonly mayRetryHere: boolean;
  /** True if the retry goes to this slot first, once a request. */
  readonly isRepeatedHere?: boolean;
}

/**
 * Effect of a failure on its slot, and on the retry of its request. With `x-should-retry: false` from the upstream,
 * and after a timeout, there is no retry in its slot.
 */
export function effectOf(failure: CallFailure, nowMs: number): Effect {
  if (failure.kind === 'timeout') return failure.waitedFor === 'headers' ? silent : elsewhereOnly;
  if (failure.kind !== 'status') return kinds[failure.kind];
  const effect = effectOfStatus(failure.status, failure.headers, nowMs);
  const mayRetry = failure.headers['x-should-retry'] !== 'false';
  return mayRetry ? effect : { state: effect.state, mayFailOver: effect.mayFailOver, mayRetryHere: false };
}

/** Effect of a status: other 4xx concern the request, other 5xx only this one call. */
function effectOfStatus(status: number, headers: Readonly<Record<string, string>>, nowMs: number): Effect {
  const ofStatus = statuses[status];
  if (ofStatus) return ofStatus(headers, nowMs);
  if (status >= 400 && status < 500) return passOn;
  return status >= 500 ? repeat : tryAgain;
}

/** Cooldown of an account with an exhausted usage window; undefined if the headers report none. */
export function exhaustion(headers: Readonly<Record<string, string>>, nowMs: number): Cooling | undefined {
  if (!isExhausted(headers)) return undefined;
  const reset = exhaustedUntil(headers);
  const given = reset && reset.untilMs > nowMs ? reset : retryAt(headers, nowMs);
  return { scope: 'slot', reason: 'window_exhausted', untilMs: given?.untilMs, header: given?.header };
}

/** Request error: the reply is passed on. */
const passOn: Effect = { state: 'untouched', mayFailOver: false, mayRetryHere: false };
const tryAgain: Effect = { state: 'untouched', mayFailOver: true, mayRetryHere: true };
/** Failure of this one call: most pass at once, and the slot has the session's cache. */
const repeat: Effect = { ...tryAgain, isRepeatedHere: true };

const unreachable: Effect = {
  state: { scope: 'slot', reason: 'unreachable', untilMs: undefined },
  mayFailOver: true,
  mayRetryHere: true,
};

/** Timeouts: another wait in this slot would be as long. */
const silent: Effect = { ...unreachable, mayRetryHere: false };
const elsewhereOnly: Effect = { ...tryAgain, mayRetryHere: false };

const kinds: Readonly<Record<Exclude<CallFailure['kind'], 'status' | 'timeout'>, Effect>> = {
  unreachable,
  interrupted: tryAgain,
  empty: tryAgain,
  foreign: tryAgain,
};

type EffectOfStatus = (headers: Readonly<Record<string, string>>, nowMs: number) => Effect;

/** Effects by status. 408 (request arrived too late) does not change the slot's state. */
const statuses: Readonly<Record<number, EffectOfStatus>> = {
  401: () => ({ state: 'rejected', mayFailOver: true, mayRetryHere: false }),
  402: unpaid,
  408: () => tryAgain,
  429: rateLimited,
  503: overloaded,
  529: overloaded,
};

/** Cooldown of an account without credit, for any model. */
function unpaid(headers: Readonly<Record<string, string>>, nowMs: number): Effect {
  const state: Cooling = {
    scope: 'slot',
    reason: 'rate_limited',
    untilMs: undefined,
    ...retryAt(headers, nowMs),
  };
  return { state, mayFailOver: true, mayRetryHere: false };
}

/** Cooldown after a 429, without a retry in this slot: an earlier retry would only be refused again. */
function rateLimited(headers: Readonly<Record<string, string>>, nowMs: number): Effect {
  if (mayRetryAtOnce(headers)) return tryAgain;
  const limited: Cooling = {
    scope: 'model',
    reason: 'rate_limited',
    untilMs: undefined,
    ...retryAt(headers, nowMs),
  };
  return { state: exhaustion(headers, nowMs) ?? limited, mayFailOver: true, mayRetryHere: false };
}

/** Cooldown of a slot that has only failed lately: its errors are no longer about one request. */
export function brokenSlot(effect: Effect): Effect {
  return { ...unreachable, mayRetryHere: false, mayFailOver: effect.mayFailOver };
}

/** True for a failure that counts towards a broken slot. */
export function isServerError(failure: CallFailure, { state }: Effect): boolean {
  return failure.kind === 'status' && failure.status >= 500 && state === 'untouched';
}

function overloaded(): Effect {
  const state: Cooling = { scope: 'model', reason: 'overloaded', untilMs: undefined };
  return { state, mayFailOver: true, mayRetryHere: true };
}
