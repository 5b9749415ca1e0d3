import { randomUUID } from 'node:crypto';
import type { Live, Messages } from '../../plugin/index.js';
import { MemoryClaims } from './claims.js';
import { MemoryLocks } from './locks.js';
import { MemoryMeters } from './meters.js';
import { MemoryPlaces } from './places.js';
import { MemorySharedMap, type TimedEntry } from './shared-map.js';

/** Hub for the instances of one process, usually a single one. */
export class MemoryHub {
  readonly #shared: MemorySharedMap;
  readonly #places = new MemoryPlaces();
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
      isAway: false,
      caches: {
        shared_state: () => this.#shared.fill,
        meters: () => this.#meters.fill,
        claims: () => this.#claims.fill,
      },
      get instances() {
        return instances.size;
      },
      shared: this.#shared.of(instance),
      places: this.#places.of(instance),
      meters: this.#meters,
      messages: this.#messagesOf(instance),
      claims: this.#claims,
      exclusively: (name, work) => this.#locks.exclusively(name, work),
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
    this.#places.leave(instance);
    this.#shared.leave(instance);
    for (const receivers of this.#topics.values())
      for (const receiver of receivers) if (receiver.instance === instance) receivers.delete(receiver);
  }
}

interface Receiver {
  readonly instance: string;
  readonly listener: Parameters<Messages['receive']>[1];
}
