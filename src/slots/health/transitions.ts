import type { CallFailure, CoolReason } from '../../plugin/index.js';
import { retryAtMs } from './retry-at.js';
import { exhaustedUntilMs, isExhausted } from './windows.js';

/** Lasts `firstMs`, then twice as long each time, at most `longestMs`. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

export interface Cooling {
  /** Of the whole slot, or of the one upstream model that was asked for. */
  readonly scope: 'slot' | 'model';
  readonly reason: CoolReason;
  /** As the upstream said it; undefined: by `backoff`. */
  readonly untilMs: number | undefined;
  readonly backoff: Backoff;
}

/** What a failed call means for its slot and for its request. */
export interface Effect {
  readonly state: 'untouched' | 'rejected' | Cooling;
  /** The same request may succeed in another slot. */
  readonly elsewhere: boolean;
  /** It may succeed in this slot if it is sent again at once. */
  readonly again: boolean;
}

/** The transitions of design §6. Where an upstream says `x-should-retry: false`, its slot is not asked once more. */
export function effectOf(failure: CallFailure, nowMs: number): Effect {
  if (failure.kind !== 'status') return kinds[failure.kind];
  const effect = effectOfStatus(failure.status, failure.headers, nowMs);
  return failure.headers['x-should-retry'] === 'false' ? { ...effect, again: false } : effect;
}

/** Every 4xx that is not listed is about the request, every such 5xx about that one try. */
function effectOfStatus(status: number, headers: Readonly<Record<string, string>>, nowMs: number): Effect {
  const ofStatus = statuses[status];
  if (ofStatus) return ofStatus(headers, nowMs);
  return status >= 400 && status < 500 ? passOn : tryAgain;
}

/** The cool-down of an account whose usage window is used up, undefined where the headers do not say so. */
export function exhaustion(headers: Readonly<Record<string, string>>, nowMs: number): Cooling | undefined {
  if (!isExhausted(headers)) return undefined;
  const resetMs = exhaustedUntilMs(headers);
  const untilMs = resetMs !== undefined && resetMs > nowMs ? resetMs : retryAtMs(headers, nowMs);
  return { scope: 'slot', reason: 'window_exhausted', untilMs, backoff: rateLimitBackoff };
}

const rateLimitBackoff: Backoff = { firstMs: 30_000, longestMs: 600_000 };
const overloadBackoff: Backoff = { firstMs: 5000, longestMs: 120_000 };
const unreachableBackoff: Backoff = { firstMs: 2000, longestMs: 60_000 };

/** About this request: its answer is passed on. */
const passOn: Effect = { state: 'untouched', elsewhere: false, again: false };
const tryAgain: Effect = { state: 'untouched', elsewhere: true, again: true };

const unreachable: Effect = {
  state: { scope: 'slot', reason: 'unreachable', untilMs: undefined, backoff: unreachableBackoff },
  elsewhere: true,
  again: true,
};

const kinds: Readonly<Record<Exclude<CallFailure['kind'], 'status'>, Effect>> = {
  unreachable,
  timeout: tryAgain,
  interrupted: tryAgain,
  empty: tryAgain,
  foreign: tryAgain,
};

type EffectOfStatus = (headers: Readonly<Record<string, string>>, nowMs: number) => Effect;

/** 402: the account has not paid, 408: the upstream did not get the request in time; both leave the slot as it is. */
const statuses: Readonly<Record<number, EffectOfStatus>> = {
  401: () => ({ state: 'rejected', elsewhere: true, again: false }),
  402: () => ({ state: 'untouched', elsewhere: true, again: false }),
  408: () => tryAgain,
  429: rateLimited,
  503: overloaded,
  529: overloaded,
};

/** Asking again before the time has come would only be refused again. */
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
