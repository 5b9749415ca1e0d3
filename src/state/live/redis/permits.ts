import { within } from '../../../kit/time/within.js';
import type { Permits } from '../../../plugin/core.js';
import type { RedisNames } from './names.js';
import { heartbeat, deadAfterMs, leave, releasePermit, takePermit } from './scripts.js';
import { endsTheSession, type RedisSession } from './session.js';
import type { HybridClock } from '../hybrid-clock.js';
import { RemotePermits, type PermitsMessage } from '../remote-permits.js';

/**
 * Permits by instance in a Redis hash, counted by a script. Each instance publishes the permits that it
 * holds.
 */
export class RedisPermits implements Permits {
  readonly #instance: string;
  readonly #names: RedisNames;
  readonly #clock: HybridClock;
  /** Permits that this instance holds or has requested, by slot; 0 for slots that it has used before. */
  readonly #own = new Map<string, number>();
  readonly #asking = new Map<string, number>();
  readonly #others = new RemotePermits();
  readonly #unpublished = new Set<string>();
  #isScheduled = false;
  #session: RedisSession | undefined;
  #echo: () => void = () => undefined;

  constructor(instance: string, names: RedisNames, clock: HybridClock) {
    this.#instance = instance;
    this.#names = names;
    this.#clock = clock;
  }

  /** Number of other known instances. */
  get others(): number {
    return this.#others.size;
  }

  take(slot: string, limit: number): boolean | Promise<boolean> {
    const own = this.#ownOf(slot);
    if (own >= limit) return false;
    this.#own.set(slot, own + 1);
    return this.#session ? this.#ask(this.#session, slot, limit) : true;
  }

  release(slot: string): void {
    const own = this.#ownOf(slot);
    if (own === 0) return;
    this.#own.set(slot, own - 1);
    this.#session?.run(releasePermit, [this.#names.permits], [this.#instance, slot]).catch(endsTheSession);
    this.#publishSoon(slot);
  }

  heldElsewhere(slot: string): number {
    return this.#others.held(slot);
  }

  watch(listener: (slot: string) => void): () => void {
    return this.#others.watch(listener);
  }

  receive(text: string): void {
    const [instance, kind, counts] = JSON.parse(text) as PermitsMessage; // as another instance wrote it
    if (instance === this.#instance) {
      if (kind === 'all' || kind === 'hello') this.#echo();
      return;
    }
    this.#others.receive(instance, kind, counts);
    if (kind === 'hello') this.#publishSoon(...this.#own.keys());
  }

  /**
   * Heartbeat: publishes the permits of this instance, and waits to receive that message, which proves that
   * both connections work. Permits taken after this call count in addition, since Redis keeps the order.
   */
  async heartbeat(session: RedisSession): Promise<void> {
    const onMessage = new Promise<void>((resolve) => (this.#echo = resolve));
    const kind = this.#session === session ? 'all' : 'hello';
    this.#session = session;
    const certain = [...this.#own].filter(([slot]) => !this.#asking.has(slot));
    const { instances, permits, shared, expiry, channels } = this.#names;
    const args = [this.#instance, channels.permits, this.#message(kind, this.#own.keys()), ...certain.flat()];
    const sentMs = this.#clock.nowMs;
    const thereMs = await session.run(heartbeat, [instances, permits, shared, expiry], args);
    this.#clock.set(Number(thereMs), sentMs, this.#clock.nowMs);
    await within(onMessage, echoMs, 'its messages do not come').catch((error: unknown) => {
      throw session.end(error);
    });
    this.#others.forgetSilent(deadAfterMs);
  }

  lose(): void {
    this.#session = undefined;
    this.#others.forgetAll();
  }

  /** Releases all permits of this instance. */
  async leave(session: RedisSession): Promise<void> {
    const { instances, permits, channels } = this.#names;
    const message = this.#message('gone', []);
    await session.run(leave, [instances, permits], [this.#instance, channels.permits, message]);
  }

  async #ask(session: RedisSession, slot: string, limit: number): Promise<boolean> {
    const { instances, permits } = this.#names;
    this.#asking.set(slot, (this.#asking.get(slot) ?? 0) + 1);
    const answer = session.run(takePermit, [instances, permits], [this.#instance, slot, limit]);
    const isTaken = await answer.then(Boolean, () => true); // the session has ended: local operation
    this.#answered(slot);
    if (isTaken) this.#publishSoon(slot);
    else {
      this.#own.set(slot, Math.max(0, this.#ownOf(slot) - 1));
      // Refused although the local counts show room: retry soon, with a free permit or current counts.
      if (this.#ownOf(slot) + this.heldElsewhere(slot) < limit) this.#others.announceIn(retryMs, slot);
    }
    return isTaken;
  }

  #answered(slot: string): void {
    const left = (this.#asking.get(slot) ?? 1) - 1;
    if (left > 0) this.#asking.set(slot, left);
    else this.#asking.delete(slot);
  }

  #ownOf(slot: string): number {
    return this.#own.get(slot) ?? 0;
  }

  #publishSoon(...slots: readonly string[]): void {
    if (!this.#session) return;
    for (const slot of slots) this.#unpublished.add(slot);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setTimeout(() => this.#publish(), publishDelayMs).unref();
  }

  #publish(): void {
    this.#isScheduled = false;
    const message = this.#message('some', this.#unpublished);
    this.#unpublished.clear();
    this.#session?.ask((redis) => redis.publish(this.#names.channels.permits, message)).catch(endsTheSession);
  }

  #message(kind: PermitsMessage[1], slots: Iterable<string>): string {
    const counts = [...slots].map((slot) => [slot, this.#ownOf(slot)] as const);
    return JSON.stringify([this.#instance, kind, counts] satisfies PermitsMessage);
  }
}

const publishDelayMs = 10;
const retryMs = 25;
const echoMs = 400;
