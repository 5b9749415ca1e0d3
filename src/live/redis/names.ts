import type { RedisAddress } from './address.js';

/** What is called how in Redis. The braces put all of it on one node of a cluster, where a script may use it together. */
export class RedisNames {
  readonly #base: string;
  readonly shared: string;
  readonly expiry: string;
  readonly instances: string;
  readonly places: string;
  readonly channels: Readonly<Record<Channel, string>>;

  constructor({ prefix, access: { db } }: RedisAddress) {
    this.#base = `{${prefix}}`;
    this.shared = `${this.#base}:shared`;
    this.expiry = `${this.#base}:expiry`;
    this.instances = `${this.#base}:instances`;
    this.places = `${this.#base}:places`;
    // A channel is the same in all databases of a server, unlike a key.
    const channel = (name: Channel) => `${this.#base}:${db}:${name}`;
    this.channels = {
      shared: channel('shared'),
      places: channel('places'),
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

export type Channel = 'shared' | 'places' | 'messages' | 'locks';
