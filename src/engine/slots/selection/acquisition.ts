import { isGatewayError, type GatewayError, type SlotLease } from '../../../plugin/index.js';
import type { FailoverTerms, PickedCall, PickTerms } from '../../../plugin/core.js';
import { sleep } from '../../../kit/time/clock.js';
import { choose, noEarlier, type Earlier, type Wanted } from './choose.js';
import { observedChoice } from './observed-choice.js';
import { CallResults, type WantedCall } from './call-results.js';
import type { PoolContext } from './pool-context.js';
import { Lease, type LeaseOwner } from './lease.js';
import type { Attempt, Acquired, Waiter } from './permit-queue.js';
import { declined, nothingToAsk, poolClosed, queueFull, queueTimedOut } from '../refusal.js';
import { observerWithin } from './slot-access.js';
import { SessionBinding } from '../sticky/session-binding.js';
import { SessionClaim, type ClaimDecision } from '../sticky/session-claim.js';
import type { SessionOrigin } from '../sticky/session-origin.js';
import type { SlotEntry, WantedModel } from '../pool/slot-entry.js';
import { RetryPlan } from './retry-plan.js';

/** Acquisition of a lease for one call of a request, with its retries in other slots. */
export class Acquisition implements Waiter, LeaseOwner {
  readonly #context: PoolContext;
  readonly #request: PickTerms;
  readonly #call: PickedCall;
  readonly #model: WantedModel;
  readonly #retries: RetryPlan;
  readonly #results: CallResults;
  /** Slot for a further call of the request; undefined: chosen by the sticky key. */
  readonly #before: SlotEntry | undefined;
  /** Claim of the session, until the session is bound. */
  readonly #claim: SessionClaim | undefined;
  readonly #binding: SessionBinding;
  readonly #origin: SessionOrigin;
  #entry: SlotEntry | undefined;
  #waitsFor: readonly string[] = noSlots;
  #isQueued = false;
  #isWaiting = true;
  readonly sinceMs: number;

  constructor(context: PoolContext, call: WantedCall, earlier: Earlier = noEarlier) {
    const { terms, request, model, origin } = call;
    const { entry: before } = earlier;
    const { caller, sticky } = terms;
    this.#context = context;
    this.#request = terms;
    this.#call = { request, caller, model: model.id };
    this.#model = model;
    this.#binding = new SessionBinding(context, sticky, model);
    this.#retries = new RetryPlan(earlier);
    this.#results = new CallResults(context, call, { binding: this.#binding, retries: this.#retries });
    this.#before = before;
    this.#origin = origin;
    const key = before ? undefined : sticky?.key;
    this.#claim =
      key === undefined ? undefined : new SessionClaim(context.claims, key, (id) => this.#decideClaim(id));
    this.sinceMs = context.now();
  }

  get caller(): string {
    return this.#request.caller.keyId;
  }

  /** Slot leased last, and those that have failed. */
  get earlier(): Earlier {
    return { entry: this.#entry, tried: [...this.#retries.tried.keys()] };
  }

  get waitsFor(): readonly string[] {
    return this.#waitsFor;
  }

  /** True until the first lease has been acquired or refused. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** Acquires the first lease; throws as `Slots.lease` does, and the signal's reason if that aborts. */
  async first(): Promise<SlotLease> {
    try {
      await (this.#before ? undefined : this.#binding.load());
      this.#origin.load(this.#model, this.#binding);
      const acquiring = this.#acquire();
      const acquired = acquiring instanceof Promise ? await acquiring : acquiring;
      if (isGatewayError(acquired)) throw acquired;
      return acquired;
    } finally {
      this.#isWaiting = false;
    }
  }

  displaced(): GatewayError {
    return queueFull(this.#model);
  }

  attempt(): Attempt {
    this.#request.signal.throwIfAborted();
    if (this.#context.isClosed()) return poolClosed();
    return this.#trySlots(nobody);
  }

  answered(lease: Lease, headers: Readonly<Record<string, string>>, firstTokenMs?: number): void {
    this.#results.answered(lease, headers, firstTokenMs);
    this.#claim?.bound();
  }

  disowned(): void {
    this.#origin.disowned(this.#call.request, this.#model);
  }

  failed(lease: Lease, error: GatewayError, terms: FailoverTerms): boolean {
    this.#claim?.release();
    return error.failure !== undefined && this.#results.failed(lease, error, error.failure, terms);
  }

  async elsewhere(): Promise<SlotLease | undefined> {
    const waitMs = this.#retries.takeWaitMs();
    if (waitMs > 0) await sleep(this.#context.clock, waitMs, this.#request.signal);
    const acquired = await this.#acquire();
    return isGatewayError(acquired) ? undefined : acquired;
  }

  released(entry: SlotEntry): void {
    this.#claim?.release();
    this.#context.freed(entry.id);
  }

  /**
   * Acquires a lease, now or after the queue; returns an error if that is not possible. Not async, because
   * most requests get a permit at once.
   */
  #acquire(): Acquired | Promise<Acquired> {
    const { queue, queueCapacity } = this.#context;
    this.#isQueued = false;
    const attempt = this.attempt();
    if (attempt && !(attempt instanceof Promise)) return attempt;
    if (!attempt && !queue.makeRoom(this.caller, queueCapacity())) return queueFull(this.#model);
    return this.#wait(attempt);
  }

  async #wait(attempt: Promise<Acquired | undefined> | undefined): Promise<Acquired> {
    const { queue, now } = this.#context;
    const { queueTimeoutMs: timeoutMs, signal, trace } = this.#request;
    this.#isQueued = true;
    this.#context.fairness.announceWait();
    const sinceMs = now();
    const waited = await queue
      .wait(this, { timeoutMs, signal }, attempt)
      .finally(() => trace?.queued(now() - sinceMs));
    signal.throwIfAborted(); // the place was given back at once where the caller left as it came
    return waited ?? queueTimedOut(this.#model, timeoutMs);
  }

  /** Tries the slots in order of choice; slots that have refused a permit are left out from then on. */
  #trySlots(before: ReadonlySet<SlotEntry>): Attempt {
    let refused = before;
    const nowMs = this.#context.now();
    const entries = this.#origin.reachable(this.#context.entries(), this.#call.request, this.#model);
    for (;;) {
      const choice = choose(this.#wanted(entries, refused), entries, nowMs);
      if (choice.kind === 'none') return nothingToAsk(this.#model, entries, nowMs, this.#context.notServed);
      if (choice.kind === 'declined') return declined(this.#model, this.#request.policy);
      if (choice.kind === 'wait') return this.#waitFor(choice.entries);
      this.#waitsFor = noSlots;
      const { entry } = choice;
      const answer = entry.permits.take(entry.config.maxConcurrent);
      if (answer === true) return this.#enter(entry, refused);
      if (answer !== false) return this.#awaitPermit(answer, entry, refused);
      refused = new Set(refused).add(entry);
    }
  }

  #waitFor(entries: readonly SlotEntry[]): undefined {
    this.#waitsFor = entries.map(({ id }) => id);
    for (const { id, hasRoom } of entries) if (hasRoom) this.#context.retryLater(id);
  }

  /** Waits for an answer about a permit; checks the slot again if states have changed in the meantime. */
  async #awaitPermit(
    answer: Promise<boolean>,
    entry: SlotEntry,
    refused: ReadonlySet<SlotEntry>,
  ): Promise<Acquired | undefined> {
    const { signal } = this.#request;
    const version = this.#context.version();
    const unpick = this.#claim?.pick(entry.id);
    const isTaken = await answer.finally(unpick);
    if (isTaken && !signal.aborted && (version === this.#context.version() || this.#isOpen(entry)))
      return this.#enter(entry, refused);
    if (isTaken) this.#giveBack(entry);
    signal.throwIfAborted();
    return this.#context.isClosed()
      ? poolClosed()
      : this.#trySlots(isTaken ? refused : new Set(refused).add(entry));
  }

  /** Leases a slot after acquiring a permit, unless the session is claimed for another slot. */
  #enter(entry: SlotEntry, refused: ReadonlySet<SlotEntry>): Attempt {
    const claim = this.#binding.slotId === undefined ? this.#claim : undefined;
    const isHere = claim ? claim.take(entry.id) : true;
    return typeof isHere === 'boolean'
      ? this.#entered(isHere, entry, refused)
      : isHere.then((isClaimed) => this.#entered(isClaimed, entry, refused));
  }

  #entered(isHere: boolean, entry: SlotEntry, refused: ReadonlySet<SlotEntry>): Attempt {
    const { signal } = this.#request;
    const { isClosed: isPoolClosed, now } = this.#context;
    const isClosed = isPoolClosed();
    const mayAsk = isHere && entry.mayBeAsked(this.#model, now());
    if (mayAsk && !signal.aborted && !isClosed) return this.#lease(entry);
    this.#giveBack(entry);
    if (isHere) this.#claim?.release();
    signal.throwIfAborted();
    return isClosed ? poolClosed() : this.#trySlots(refused);
  }

  #decideClaim(slotId: string): ClaimDecision {
    const claimed = this.#context.entries().find(({ id }) => id === slotId);
    if (!claimed) return 'replace';
    if (this.#retries.tried.has(claimed) || !claimed.serves(this.#model)) return 'ignore';
    return claimed.isSchedulable(this.#model, this.#context.now()) ? 'follow' : 'replace';
  }

  #giveBack(entry: SlotEntry): void {
    entry.permits.release();
    this.#context.freed(entry.id);
  }

  #isOpen(entry: SlotEntry): boolean {
    const { entries, now, isClosed } = this.#context;
    return !isClosed() && entries().includes(entry) && entry.isSchedulable(this.#model, now());
  }

  #lease(entry: SlotEntry): Lease {
    const { now, changedSoon } = this.#context;
    this.#entry = entry;
    const name = entry.upstreamModel(this.#model);
    const isAsk = entry.cooldowns.noteAsk(name, now());
    const check = entry.cooldowns.beginCheck(name, now(), entry.config.cooldown.maxMs);
    if (isAsk || check) changedSoon();
    const moved = this.#origin.movedTo(entry, this.#call.request);
    return new Lease(entry, this.#model, this, {
      signal: this.#request.signal,
      ...(moved && { moved }),
      ...(check && { giveBackCheck: () => (check(), changedSoon()) }),
    });
  }

  #wanted(entries: readonly SlotEntry[], refused: ReadonlySet<SlotEntry>): Wanted {
    const { policy, sticky } = this.#request;
    const hasRoom = (entry: SlotEntry): boolean => !refused.has(entry) && this.#hasRoom(entry);
    const boundId = sticky && (this.#binding.slotId ?? this.#claim?.slotId);
    const find = (slotId: string | undefined) => entries.find(({ id }) => id === slotId);
    const bound = sticky && (this.#before ?? find(boundId) ?? find(this.#origin.slotId));
    const call = this.#call;
    const wanted: Wanted = {
      model: this.#model,
      policy,
      call,
      hasRoom,
      bound,
      preferred: this.#retries.preferred,
      awaited: this.#retries.awaited,
      tried: this.#retries.tried,
      waysOut: this.#context.waysOut,
      organization: this.#origin.organization,
    };
    const onChoice = observerWithin(this.#context, entries);
    if (!onChoice) return wanted;
    return { ...wanted, observe: (sorted) => onChoice(observedChoice(sorted, wanted, this.#context.now())) };
  }

  /**
   * True if a permit is free that is not due to a request waiting for longer, here or in another instance.
   */
  #hasRoom({ id, hasRoom }: SlotEntry): boolean {
    if (!hasRoom) return false;
    const { queue, fairness } = this.#context;
    if (!this.#isQueued && queue.size > 0 && queue.count(id) > 0) return false;
    return !fairness.isReservedElsewhere(id, this);
  }
}

/** Shared constant, since most requests are never refused and never wait. */
const nobody: ReadonlySet<SlotEntry> = new Set();
const noSlots: readonly string[] = [];
