import type { CallFailure } from '../../../plugin/core.js';
import { retryInMs } from '../health/retry-at.js';
import type { Effect } from '../health/transitions.js';
import type { SlotEntry } from '../pool/slot-entry.js';
import type { Earlier } from './choose.js';

/** Consequence of a slot's failed call for its request. */
export interface FailedTry {
  readonly failure: CallFailure;
  readonly effect: Effect;
  readonly nowMs: number;
  /** Longest wait for the same slot. */
  readonly waitIfWithinMs: number;
  /** True if the request should wait for this slot instead of going to another. */
  readonly isWorthWaiting: () => boolean;
}

/** Plan of the retries of one call of a request: the slots that have failed it, and the one to ask next. */
export class RetryPlan {
  /** Slots that have failed the call, in order; true if an immediate retry there makes sense. */
  readonly #tried: Map<SlotEntry, boolean>;
  // Made when they are needed, since most requests are answered at once.
  #sentOnceMore: Set<SlotEntry> | undefined;
  #waitedFor: Set<SlotEntry> | undefined;
  #preferred: SlotEntry | undefined;
  #hasRepeated = false;
  #waitMs = 0;

  /** Slots that have failed an earlier call of the request may be asked again, as the last ones. */
  constructor({ entry, tried }: Earlier) {
    this.#tried = tried.length === 0 ? new Map() : new Map(tried.map((each) => [each, true]));
    this.#preferred = entry && tried.includes(entry) ? undefined : entry;
  }

  get tried(): ReadonlyMap<SlotEntry, boolean> {
    return this.#tried;
  }

  /** Slot to ask next if it has room. */
  get preferred(): SlotEntry | undefined {
    return this.#preferred;
  }

  /** Slot to probe after its named wait, even during its cooldown. */
  get awaited(): SlotEntry | undefined {
    return this.#preferred && this.#waitedFor?.has(this.#preferred) ? this.#preferred : undefined;
  }

  /** Wait before the next call. */
  takeWaitMs(): number {
    const waitMs = this.#waitMs;
    this.#waitMs = 0;
    return waitMs;
  }

  /** True to resend the request because its reused connection was closed, which does not concern the slot. */
  resends(entry: SlotEntry, failure: CallFailure): boolean {
    if (failure.kind !== 'unreachable' || !failure.reused || this.#sentOnceMore?.has(entry)) return false;
    (this.#sentOnceMore ??= new Set()).add(entry);
    this.#preferred = entry;
    return true;
  }

  /** Plans the next call after a failed one. */
  failed(entry: SlotEntry, attempt: FailedTry): void {
    const { effect } = attempt;
    this.#preferred = undefined;
    if (!effect.mayFailOver) return;
    const isNextToo = this.#repeats(effect) || this.#waits(entry, attempt);
    if (isNextToo) this.#preferred = entry;
    else this.#tried.set(entry, effect.mayRetryHere);
  }

  #repeats({ isRepeatedHere = false }: Effect): boolean {
    if (!isRepeatedHere || this.#hasRepeated) return false;
    this.#hasRepeated = true;
    return true;
  }

  #waits(entry: SlotEntry, { failure, nowMs, waitIfWithinMs, isWorthWaiting }: FailedTry): boolean {
    if (failure.kind !== 'status' || failure.headers['x-should-retry'] === 'false') return false;
    const waitMs = retryInMs(failure.headers, nowMs);
    if (waitMs === undefined || waitMs > waitIfWithinMs || this.#waitedFor?.has(entry)) return false;
    if (!isWorthWaiting()) return false;
    (this.#waitedFor ??= new Set()).add(entry);
    this.#waitMs = waitMs;
    return true;
  }
}
