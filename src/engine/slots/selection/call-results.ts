import type { CallFailure, FailoverTerms, PickTerms } from '../../../plugin/core.js';
import type { GatewayError, MessagesRequest } from '../../../plugin/index.js';
import { announcedCause, causeOf, type FailureCause } from '../health/failure-cause.js';
import {
  brokenSlot,
  effectOf,
  exhaustion,
  isServerError,
  type Cooling,
  type Effect,
} from '../health/transitions.js';
import type { SlotEntry, WantedModel } from '../pool/slot-entry.js';
import type { SessionOrigin } from '../sticky/session-origin.js';
import type { SessionBinding } from '../sticky/session-binding.js';
import type { Lease } from './lease.js';
import { startCooldown, reject, type PoolContext } from './pool-context.js';
import type { RetryPlan } from './retry-plan.js';

/** A call of a request, and the terms of that. */
export interface WantedCall {
  readonly terms: PickTerms;
  readonly request: MessagesRequest;
  readonly model: WantedModel;
  /** Origin of the thinking in the request. */
  readonly origin: SessionOrigin;
}

interface CallResultsParts {
  readonly binding: SessionBinding;
  readonly retries: RetryPlan;
}

/** Applies the results of a request's calls: to the slots, to its session, and to the plan of its retries. */
export class CallResults {
  readonly #context: PoolContext;
  readonly #call: WantedCall;
  readonly #binding: SessionBinding;
  readonly #retries: RetryPlan;

  constructor(context: PoolContext, call: WantedCall, { binding, retries }: CallResultsParts) {
    this.#context = context;
    this.#call = call;
    this.#binding = binding;
    this.#retries = retries;
  }

  answered(lease: Lease, headers: Readonly<Record<string, string>>, firstTokenMs: number | undefined): void {
    const { entry, slot, upstreamModel, began } = lease;
    const { now, waysOut, changed } = this.#context;
    const { gauge, cooldowns } = slot.health;
    gauge.read(headers);
    const isOver = cooldowns.succeed(upstreamModel, began);
    const nowMs = now();
    if (firstTokenMs !== undefined) entry.firstTokens.note(upstreamModel, firstTokenMs, nowMs);
    if (entry.config.proxy !== undefined) waysOut.succeed(entry.config.proxy);
    const exhausted = exhaustion(headers, nowMs);
    if (exhausted) this.#cool(lease, exhausted, announcedCause(exhausted.header, nowMs));
    entry.noteSuccess(nowMs, upstreamModel);
    this.#binding.keep(entry);
    this.#call.origin.answered(entry, this.#call.request, this.#call.model);
    if (isOver) changed();
  }

  /** Applies a failure; true if the request should be sent again. */
  failed(lease: Lease, error: GatewayError, failure: CallFailure, terms: FailoverTerms): boolean {
    const { entry, slot } = lease;
    if (failure.kind === 'status') slot.health.gauge.read(failure.headers);
    if (this.#retries.resends(entry, failure)) return true;
    const nowMs = this.#context.now();
    const effect = this.#effect(entry, failure, nowMs);
    this.#retries.failed(entry, {
      failure,
      effect,
      nowMs,
      waitIfWithinMs: terms.waitIfWithinMs ?? 0,
      isWorthWaiting: () => this.#isWorthWaiting(entry, nowMs),
    });
    if (!effect.mayFailOver) return false;
    lease.concludeCheck();
    this.#weigh(lease, failure, nowMs);
    this.#apply(lease, effect.state, error, nowMs);
    return true;
  }

  /** Effect of a failure; of the fifth server error in a row without a success, and those after it, a cooldown. */
  #effect(entry: SlotEntry, failure: CallFailure, nowMs: number): Effect {
    const effect = effectOf(failure, nowMs);
    if (!isServerError(failure, effect)) return effect;
    entry.serverErrors += 1;
    return entry.serverErrors < maxServerErrors ? effect : brokenSlot(effect);
  }

  /** Applies the effect of a failure on the state of its slot. */
  #apply(
    lease: Lease,
    state: ReturnType<typeof effectOf>['state'],
    error: GatewayError,
    nowMs: number,
  ): void {
    const { entry, slot, began } = lease;
    const header = typeof state === 'object' ? state.header : undefined;
    const cause = causeOf(error, nowMs, { mask: slot.mask, header });
    entry.noteError(cause);
    if (slot.health !== entry.slot.health) return; // what a reload has replaced says nothing about what came
    if (state === 'rejected') reject(slot, began, this.#context);
    else if (typeof state === 'object') this.#cool(lease, state, cause);
  }

  /** Records a late first token, after which a session leaves the slot, and a failed proxy. */
  #weigh({ entry, upstreamModel }: Lease, failure: CallFailure, nowMs: number): void {
    const { proxy, cooldown } = entry.config;
    if (failure.kind === 'unreachable' && proxy !== undefined)
      this.#context.waysOut.fail(proxy, cooldown.unreachable, nowMs);
    if (failure.kind !== 'timeout' || failure.waitedFor !== 'content') return;
    entry.firstTokens.note(upstreamModel, failure.afterMs ?? 0, nowMs);
    this.#binding.leave(entry);
  }

  /** True if the session is bound to the slot, or no other one can serve the request. */
  #isWorthWaiting(entry: SlotEntry, nowMs: number): boolean {
    if (this.#binding.slotId === entry.id) return true;
    const { model } = this.#call;
    const isOther = (each: SlotEntry): boolean => each !== entry && !this.#retries.tried.has(each);
    return !this.#context
      .entries()
      .some((each) => isOther(each) && each.serves(model) && each.isSchedulable(model, nowMs));
  }

  #cool(lease: Lease, cooling: Cooling, cause: FailureCause): void {
    startCooldown(lease, cooling, { cause, policy: lease.entry.config.cooldown }, this.#context);
  }
}

/** Number of consecutive server errors that no longer concern a single request. */
const maxServerErrors = 5;
