import { randomUUID } from 'node:crypto';
import type { Live, Messages, Permits } from '../../../plugin/core.js';
import { MemoryClaims } from './claims.js';
import { MemoryMeters } from './meters.js';
import { MemorySharedMap, type TimedEntry } from './shared-map.js';

/** Hub for the instances of one process, usually a single one. */
export class MemoryHub {
  readonly #shared: MemorySharedMap;
  readonly #permits = new MemoryPermits();
  readonly #meters: MemoryMeters;
  readonly #claims: MemoryClaims;
  readonly #locks = new MemoryLocks();
  readonly #topics = new Map<string, Set<Receiver>>();
  readonly #instances = new Set<string>();

  constructor({ now = Date.now }: { readonly now?: () => number } = {}) {
    this.#shared = new MemorySharedMap(now);
    this.#meters = new MemoryMeters(now);
    this.#claims = new MemoryClaims(now);
  }

  /** Adds an instance. */
  connect(): Live {
    const instance = randomUUID();
    const instances = this.#instances.add(instance);
    return {
      instance,
      isDown: false,
      caches: {
        shared_state: () => this.#shared.fill,
        meters: () => this.#meters.fill,
        claims: () => this.#claims.fill,
      },
      get instances() {
        return instances.size;
      },
      shared: this.#shared.of(instance),
      permits: this.#permits.of(instance),
      meters: this.#meters,
      messages: this.#messagesOf(instance),
      claims: this.#claims,
      withLock: (name, work) => this.#locks.withLock(name, work),
      close: async () => this.#disconnect(instance),
    };
  }

  /**
   * Snapshot of the shared map for a replica in another process, followed by each write of the other
   * instances.
   */
  replicate(...args: Parameters<MemorySharedMap['replicate']>): readonly TimedEntry[] {
    return this.#shared.replicate(...args);
  }

  #messagesOf(instance: string): Messages {
    return {
      send: (topic, message) => {
        for (const receiver of this.#topics.get(topic) ?? [])
          if (receiver.instance !== instance) receiver.listener(message);
      },
      receive: (topic, listener) => {
        const receivers = this.#topics.get(topic) ?? new Set();
        this.#topics.set(topic, receivers);
        const receiver: Receiver = { instance, listener };
        receivers.add(receiver);
        return () => void receivers.delete(receiver);
      },
    };
  }

  #disconnect(instance: string): void {
    this.#instances.delete(instance);
    this.#permits.leave(instance);
    this.#shared.leave(instance);
    for (const receivers of this.#topics.values())
      for (const receiver of receivers) if (receiver.instance === instance) receivers.delete(receiver);
  }
}

interface Receiver {
  readonly instance: string;
  readonly listener: Parameters<Messages['receive']>[1];
}

/** Locks within one process: work of the same name runs one at a time. */
export class MemoryLocks {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `work` under a lock; its signal never aborts, since no other process can take a lock of this one. */
  async withLock<Result>(name: string, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const before = this.#last.get(name) ?? Promise.resolve();
    const run = () => work(new AbortController().signal);
    const mine = before.then(run, run);
    this.#last.set(name, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(name) === mine) this.#last.delete(name);
    }
  }
}

/** Permits in slots, by instance. */
class MemoryPermits {
  /**
   * Permits held, by slot and then by instance. An instance with none stays until it leaves, since the next
   * request is likely soon.
   */
  readonly #held = new Map<string, Map<string, number>>();
  readonly #watchers = new Map<(slot: string) => void, string>();

  of(instance: string): Permits {
    return {
      take: (slot, limit) => {
        const own = this.#ownOf(slot, instance);
        if (own + this.#elsewhere(slot, instance) >= limit) return false;
        this.#set(slot, instance, own + 1);
        return true;
      },
      release: (slot) => this.#set(slot, instance, Math.max(0, this.#ownOf(slot, instance) - 1)),
      heldElsewhere: (slot) => this.#elsewhere(slot, instance),
      watch: (listener) => {
        this.#watchers.set(listener, instance);
        return () => void this.#watchers.delete(listener);
      },
    };
  }

  /** Releases all permits of an instance. */
  leave(instance: string): void {
    for (const [watcher, of] of this.#watchers) if (of === instance) this.#watchers.delete(watcher);
    for (const [slot, held] of this.#held) {
      if (this.#ownOf(slot, instance) > 0) this.#set(slot, instance, 0);
      held.delete(instance);
      if (held.size === 0) this.#held.delete(slot);
    }
  }

  #ownOf(slot: string, instance: string): number {
    return this.#held.get(slot)?.get(instance) ?? 0;
  }

  #elsewhere(slot: string, instance: string): number {
    let sum = 0;
    for (const [holder, count] of this.#held.get(slot) ?? []) if (holder !== instance) sum += count;
    return sum;
  }

  #set(slot: string, instance: string, count: number): void {
    const held = this.#held.get(slot);
    if (held) held.set(instance, count);
    else this.#held.set(slot, new Map([[instance, count]]));
    for (const [watcher, of] of this.#watchers) if (of !== instance) watcher(slot);
  }
}
