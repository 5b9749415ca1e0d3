import {
  isGatewayError,
  type CallFailure,
  type GatewayError,
  type LeaseRequest,
  type Logger,
  type SlotLease,
} from '../plugin/index.js';
import type { Bindings } from './bindings.js';
import { choose, type Wanted } from './choose.js';
import { Lease, type Lessor } from './lease.js';
import type { Placed, PlaceQueue, Waiter } from './place-queue.js';
import { nothingToAsk, queueFull, queueTimedOut } from './refusal.js';
import type { SlotEntry, WantedModel } from './slot-entry.js';
import { effectOf, exhaustion, type Cooling } from './transitions.js';

/** The pool, as a request that looks for a place sees it. */
export interface Grounds {
  readonly queue: PlaceQueue;
  readonly bindings: Bindings;
  readonly log: Logger;
  /** How many may wait. */
  readonly queueCapacity: () => number;
  readonly entries: () => readonly SlotEntry[];
  readonly now: () => number;
  /** A state is another: whoever waits should look again. */
  readonly changed: () => void;
}

/** One request's way through the pool: where it has been, and where it goes next. */
export class Search implements Waiter, Lessor {
  readonly #grounds: Grounds;
  readonly #request: LeaseRequest;
  readonly #model: WantedModel;
  readonly #tried = new Map<SlotEntry, boolean>();
  readonly #sentOnceMore = new Set<SlotEntry>();
  /** The slot that a further call of the request goes to; undefined: as the sticky key says. */
  readonly #origin: SlotEntry | undefined;
  #preferred: SlotEntry | undefined;
  #waitsFor: readonly SlotEntry[] = [];

  constructor(grounds: Grounds, request: LeaseRequest, model: WantedModel, origin?: SlotEntry) {
    this.#grounds = grounds;
    this.#request = request;
    this.#model = model;
    this.#origin = origin;
    this.#preferred = origin;
  }

  /** The first place; throws as `Slots.lease` says, and the signal's reason where that aborts. */
  async first(): Promise<SlotLease> {
    await this.#recallBinding();
    const placed = await this.#place();
    if (isGatewayError(placed)) throw placed;
    return placed;
  }

  attempt(): Placed | undefined {
    this.#request.signal.throwIfAborted();
    const nowMs = this.#grounds.now();
    const entries = this.#grounds.entries();
    const choice = choose(this.#wanted(entries), entries, nowMs);
    if (choice.kind === 'none') return nothingToAsk(this.#model, entries, nowMs);
    this.#waitsFor = choice.kind === 'wait' ? choice.entries : [];
    return choice.kind === 'wait' ? undefined : new Lease(choice.entry, this, this.#request.signal);
  }

  waitsFor(slotId: string): boolean {
    return this.#waitsFor.some(({ id }) => id === slotId);
  }

  answered({ entry, slot, began }: Lease, headers: Readonly<Record<string, string>>): void {
    slot.gauge.read(headers);
    const isOver = entry.coolDowns.succeed(this.#model.upstreamModel, began);
    const exhausted = exhaustion(headers, this.#grounds.now());
    if (exhausted) this.#cool(entry, exhausted, began);
    this.#bind(entry);
    if (isOver) this.#grounds.changed();
  }

  failed(lease: Lease, error: GatewayError): boolean {
    return error.failure !== undefined && this.#report(lease, error, error.failure);
  }

  async elsewhere(): Promise<SlotLease | undefined> {
    const placed = await this.#place();
    return isGatewayError(placed) ? undefined : placed;
  }

  again({ entry }: Lease): Promise<SlotLease> {
    return new Search(this.#grounds, this.#request, this.#model, entry).first();
  }

  released(entry: SlotEntry): void {
    this.#grounds.queue.offer(entry);
  }

  /** Changes the slot's state as the failure says; true where the request should be sent once more. */
  #report({ entry, slot, began }: Lease, error: GatewayError, failure: CallFailure): boolean {
    if (failure.kind === 'status') slot.gauge.read(failure.headers);
    if (failure.kind === 'unreachable' && failure.reused && !this.#sentOnceMore.has(entry)) {
      this.#sentOnceMore.add(entry); // the connection was stale, which says nothing about the slot
      this.#preferred = entry;
      return true;
    }
    const { state, elsewhere, again } = effectOf(failure, this.#grounds.now());
    this.#preferred = undefined;
    this.#tried.set(entry, again);
    if (elsewhere) entry.lastError = error.message;
    const isCurrent = slot.account === entry.slot.account; // what a reload has replaced says nothing about what came
    if (isCurrent && state === 'rejected') this.#reject(entry);
    else if (isCurrent && typeof state === 'object') this.#cool(entry, state, began);
    return elsewhere;
  }

  #reject(entry: SlotEntry): void {
    if (entry.isRejected) return;
    entry.isRejected = true;
    this.#grounds.log.error(
      { slot: entry.id },
      "the slot is rejected: its upstream refuses the account's credential",
    );
    this.#grounds.changed();
  }

  #cool(entry: SlotEntry, cooling: Cooling, began: number): void {
    const nowMs = this.#grounds.now();
    const { upstreamModel } = this.#model;
    if (!entry.coolDowns.add(cooling, upstreamModel, began, nowMs)) return;
    const until = entry.coolDowns.active(upstreamModel, nowMs)?.untilMs ?? nowMs;
    const fields = { slot: entry.id, model: upstreamModel, reason: cooling.reason, ms: until - nowMs };
    this.#grounds.log.warn(fields, 'the slot cools down');
    this.#grounds.changed();
  }

  /** A place now, or when its turn comes; the error says why there is none. */
  async #place(): Promise<Placed> {
    const { queue, queueCapacity } = this.#grounds;
    const placed = this.attempt();
    if (placed) return placed;
    if (queue.size >= queueCapacity()) return queueFull(this.#model);
    const { queueTimeoutMs: timeoutMs, signal } = this.#request;
    const waited = await queue.wait(this, { timeoutMs, signal });
    signal.throwIfAborted(); // the place was given back at once where the caller left as it came
    return waited ?? queueTimedOut(this.#model, timeoutMs);
  }

  #wanted(entries: readonly SlotEntry[]): Wanted {
    const { policy, sticky } = this.#request;
    const boundId = sticky && this.#grounds.bindings.peek(sticky.key);
    const bound = sticky && (this.#origin ?? entries.find(({ id }) => id === boundId));
    return { model: this.#model, policy, bound, preferred: this.#preferred, tried: this.#tried };
  }

  /** Forgets a binding to a slot that cannot be asked: the one that answers takes its place. */
  async #recallBinding(): Promise<void> {
    const { sticky } = this.#request;
    if (!sticky || this.#origin) return;
    const { bindings } = this.#grounds;
    await bindings.load(sticky.key);
    if (bindings.peek(sticky.key) !== undefined && !this.#boundSlot()) bindings.drop(sticky.key);
  }

  /** A binding that still holds stays, whoever has answered: this model or this one try was the exception. */
  #bind(entry: SlotEntry): void {
    const { sticky } = this.#request;
    if (sticky) this.#grounds.bindings.keep(sticky.key, (this.#boundSlot() ?? entry).id, sticky.ttlMs);
  }

  #boundSlot(): SlotEntry | undefined {
    const { bindings, entries, now } = this.#grounds;
    const { sticky } = this.#request;
    const id = sticky && bindings.peek(sticky.key);
    const bound = entries().find((entry) => entry.id === id);
    return bound?.isSchedulable(this.#model, now()) ? bound : undefined;
  }
}
