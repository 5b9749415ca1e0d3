import type { CacheStats, SharedMap } from '../../../plugin/core.js';
import type { Json } from '../../../plugin/index.js';
import type { RpcChannel } from './rpc-channel.js';
import { MemorySharedMap } from '../../../state/live/memory/shared-map.js';

/** Entry as sent over a channel; `ttlMs` null: no expiry. */
export type SentEntry = readonly [key: string, value: Json, ttlMs: number | null];

/**
 * Write of another instance, with the number of our writes that the hub applied before it; null entry:
 * deleted.
 */
export type SentWrite = readonly [acknowledged: number, key: string, entry: SentEntry | null];

/**
 * Replica of a map in another process, which puts all writes in one order. Local writes apply at once; a
 * received write is ignored while a later local write of that key is not acknowledged.
 */
export class IpcSharedMap implements SharedMap {
  readonly #channel: RpcChannel;
  readonly #replica: MemorySharedMap;
  readonly #here: SharedMap;
  readonly #elsewhere: SharedMap;
  /** Number of the last local write by key, until the hub acknowledges it; in the order of the numbers. */
  readonly #unacknowledged = new Map<string, number>();
  #writes = 0;

  constructor(channel: RpcChannel, now: () => number) {
    this.#channel = channel;
    this.#replica = new MemorySharedMap(now);
    this.#here = this.#replica.of('here');
    this.#elsewhere = this.#replica.of('elsewhere');
    channel.on('live.written', (write: SentWrite) => this.#receive(write));
    channel.on('live.acknowledged', (acknowledged: number) => this.#settle(acknowledged));
  }

  get fill(): CacheStats {
    return this.#replica.fill;
  }

  get(key: string): Json | undefined {
    return this.#here.get(key);
  }

  ttlMs(key: string): number | undefined {
    return this.#here.ttlMs(key);
  }

  entries(prefix: string): readonly (readonly [key: string, value: Json])[] {
    return this.#here.entries(prefix);
  }

  set(key: string, value: Json, ttlMs = Infinity): void {
    this.#here.set(key, value, ttlMs);
    this.#wrote(key);
    this.#channel.notify('live.set', sentEntry([key, value, ttlMs]));
  }

  delete(key: string): void {
    this.#here.delete(key);
    this.#wrote(key);
    this.#channel.notify('live.delete', key);
  }

  watch(prefix: string, listener: (key: string, value: Json | undefined) => void): () => void {
    return this.#here.watch(prefix, listener);
  }

  #wrote(key: string): void {
    this.#unacknowledged.delete(key);
    this.#unacknowledged.set(key, ++this.#writes);
  }

  #receive([acknowledged, key, entry]: SentWrite): void {
    this.#settle(acknowledged);
    if (this.#unacknowledged.has(key)) return;
    if (entry) this.#elsewhere.set(key, entry[1], entry[2] ?? Infinity);
    else this.#elsewhere.delete(key);
  }

  #settle(acknowledged: number): void {
    for (const [key, write] of this.#unacknowledged) {
      if (write > acknowledged) return;
      this.#unacknowledged.delete(key);
    }
  }
}

/** Converts an entry for JSON, which has no Infinity. */
export function sentEntry([key, value, ttlMs]: readonly [string, Json, number]): SentEntry {
  return [key, value, ttlMs === Infinity ? null : ttlMs];
}
