import type { CallFailure, CoolReason } from '../../plugin/internal.js';
import { retryAtMs } from './retry-at.js';
import { exhaustedUntilMs, isExhausted } from './windows.js';

/** Exponential backoff: starts at `firstMs` and doubles each time, up to `longestMs`. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

export interface Cooling {
  /** Scope: the whole slot, or only the requested upstream model. */
  readonly scope: 'slot' | 'model';
  readonly reason: CoolReason;
  /** End given by the upstream; undefined: computed by `backoff`. */
  readonly untilMs: number | undefined;
  readonly backoff: Backoff;
}

/** Effect of a failed call on its slot and its request. */
export interface Effect {
  readonly state: 'untouched' | 'rejected' | Cooling;
  /** True if the same request may succeed in another slot. */
  readonly elsewhere: boolean;
  /** True if an immediate retry in this slot may succeed. */
  readonly again: boolean;
}

/**
 * Failure policy: the transitions of design §6. With `x-should-retry: false` from the upstream, and after a
 * timeout, there is no retry in its slot.
 */
export function effectOf(failure: CallFailure, nowMs: number): Effect {
  if (failure.kind !== 'status') return kinds[failure.kind];
  const effect = effectOfStatus(failure.status, failure.headers, nowMs);
  return failure.headers['x-should-retry'] === 'false' ? { ...effect, again: false } : effect;
}

/** Effect of a status: other 4xx concern the request, other 5xx only this one try. */
function effectOfStatus(status: number, headers: Readonly<Record<string, string>>, nowMs: number): Effect {
  const ofStatus = statuses[status];
  if (ofStatus) return ofStatus(headers, nowMs);
  return status >= 400 && status < 500 ? passOn : tryAgain;
}

/** Cooldown of an account with an exhausted usage window; undefined if the headers report none. */
export function exhaustion(headers: Readonly<Record<string, string>>, nowMs: number): Cooling | undefined {
  if (!isExhausted(headers)) return undefined;
  const resetMs = exhaustedUntilMs(headers);
  const untilMs = resetMs !== undefined && resetMs > nowMs ? resetMs : retryAtMs(headers, nowMs);
  return { scope: 'slot', reason: 'window_exhausted', untilMs, backoff: rateLimitBackoff };
}

const rateLimitBackoff: Backoff = { firstMs: 30_000, maxMs: 600_000 };
const overloadBackoff: Backoff = { firstMs: 5000, maxMs: 120_000 };
const unreachableBackoff: Backoff = { firstMs: 2000, maxMs: 60_000 };

/** Request error: the reply is passed on. */
const passOn: Effect = { state: 'untouched', elsewhere: false, again: false };
const tryAgain: Effect = { state: 'untouched', elsewhere: true, again: true };

const unreachable: Effect = {
  state: { scope: 'slot', reason: 'unreachable', untilMs: undefined, backoff: unreachableBackoff },
  elsewhere: true,
  again: true,
};

const kinds: Readonly<Record<Exclude<CallFailure['kind'], 'status'>, Effect>> = {
  unreachable,
  timeout: { ...tryAgain, again: false },
  interrupted: tryAgain,
  empty: tryAgain,
  foreign: tryAgain,
};

type EffectOfStatus = (headers: Readonly<Record<string, string>>, nowMs: number) => Effect;

/**
 * Effects by status. 402 (account has not paid) and 408 (request arrived too late) do not change the slot's
 * state.
 */
const statuses: Readonly<Record<number, EffectOfStatus>> = {
  401: () => ({ state: 'rejected', elsewhere: true, again: false }),
  402: () => ({ state: 'untouched', elsewhere: true, again: false }),
  408: () => tryAgain,
  429: rateLimited,
  503: overloaded,
  529: overloaded,
};

/** Cooldown after a 429, without a retry in this slot: an earlier retry would only be refused again. */
function rateLimited(headers: Readonly<Record<string, string>>, nowMs: number): Effect {
  const untilMs = retryAtMs(headers, nowMs);
  const limited: Cooling = { scope: 'model', reason: 'rate_limited', untilMs, backoff: rateLimitBackoff };
  return { state: exhaustion(headers, nowMs) ?? limited, elsewhere: true, again: false };
}

function overloaded(): Effect {
  const state: Cooling = {
    scope: 'model',
    reason: 'overloaded',
    untilMs: undefined,
    backoff: overloadBackoff,
  };
  return { state, elsewhere: true, again: true };
}
