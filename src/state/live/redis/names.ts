import type { RedisAddress } from './address.js';

/**
 * Names of keys and channels in Redis. The braces (a hash tag) put all keys on one node of a cluster, so
 * that one script can use them together.
 */
export class RedisNames {
  readonly #base: string;
  readonly shared: string;
  readonly expiry: string;
  readonly instances: string;
  readonly permits: string;
  readonly channels: Readonly<Record<Channel, string>>;

  constructor({ prefix, access: { db } }: RedisAddress) {
    this.#base = `{${prefix}}`;
    this.shared = `${this.#base}:shared`;
    this.expiry = `${this.#base}:expiry`;
    this.instances = `${this.#base}:instances`;
    this.permits = `${this.#base}:places`;
    // Channels, unlike keys, are common to all databases of a server, so their names contain the database.
    const channel = (name: string) => `${this.#base}:${db}:${name}`;
    this.channels = {
      shared: channel('shared'),
      permits: channel('places'),
      messages: channel('messages'),
      locks: channel('locks'),
    };
  }

  meter(name: string): string {
    return `${this.#base}:meter:${name}`;
  }

  claim(name: string): string {
    return `${this.#base}:claim:${name}`;
  }

  lock(name: string): string {
    return `${this.#base}:lock:${name}`;
  }
}

export type Channel = 'shared' | 'permits' | 'messages' | 'locks';
