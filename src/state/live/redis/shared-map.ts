import type { CacheStats, SharedMap } from '../../../plugin/core.js';
import type { Json } from '../../../plugin/index.js';
import type { RedisNames } from './names.js';
import { writeShared } from './scripts.js';
import type { RedisSession } from './session.js';
import { isLater, LwwMap, type LwwEntry } from '../lww-map.js';
import type { HybridClock } from '../hybrid-clock.js';

type Listener = Parameters<SharedMap['watch']>[1];

/**
 * Shared map in a Redis hash, with a local replica. Writes that Redis has not acknowledged are sent again,
 * at the latest after a reconnect.
 */
export class RedisSharedMap implements SharedMap {
  readonly #names: RedisNames;
  readonly #clock: HybridClock;
  readonly #replica: LwwMap;
  readonly #watchers = new Map<symbol, { readonly prefix: string; readonly listener: Listener }>();
  /** Keys with a write that Redis may not have. */
  readonly #unsent = new Set<string>();
  #session: RedisSession | undefined;
  #sending: Promise<void> | undefined;
  #lostAtMs: number | undefined;

  constructor(names: RedisNames, clock: HybridClock) {
    this.#names = names;
    this.#clock = clock;
    this.#replica = new LwwMap(clock);
  }

  get fill(): CacheStats {
    return this.#replica.fill;
  }

  get(key: string): Json | undefined {
    return this.#replica.valueOf(key);
  }

  ttlMs(key: string): number | undefined {
    return this.#replica.ttlMs(key);
  }

  entries(prefix: string): readonly (readonly [string, Json])[] {
    return this.#replica.entries(prefix);
  }

  set(key: string, value: Json, ttlMs = Infinity): void {
    this.#write(key, value, ttlMs);
  }

  delete(key: string): void {
    if (this.#replica.valueOf(key) !== undefined) this.#write(key, undefined, deletedMs);
  }

  watch(prefix: string, listener: Listener): () => void {
    const id = Symbol(prefix);
    this.#watchers.set(id, { prefix, listener });
    return () => void this.#watchers.delete(id);
  }

  /** Merges a published write of any instance, including this one, and notifies the watchers. */
  receive(text: string): void {
    const write = this.#read(text);
    if (!write) return;
    this.#clock.observe(write.at);
    if (!this.#replica.put(write)) return;
    this.#unsent.delete(write.key);
    const value = this.#replica.valueOf(write.key);
    for (const { prefix, listener } of this.#watchers.values())
      if (write.key.startsWith(prefix)) listener(write.key, value);
  }

  /**
   * Merges the records of Redis into the replica, while messages are already received. Then sends the
   * records that Redis lacks.
   */
  async join(session: RedisSession): Promise<void> {
    const stored = new Map<string, LwwEntry>();
    for await (const text of this.#recordsAt(session)) {
      const write = this.#read(text);
      if (write) stored.set(write.key, write);
      this.receive(text);
    }
    this.#correctFarAhead();
    for (const own of this.#replica.current()) this.#resend(own, stored.get(own.key));
    this.#session = session;
    await this.flush();
  }

  lose(): void {
    if (!this.#session) return;
    this.#session = undefined;
    this.#lostAtMs = this.#clock.nowMs;
  }

  /** Resolves when Redis has all local writes, or cannot be reached. */
  async flush(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
    await this.#sending;
  }

  #write(key: string, value: Json | undefined, ttlMs: number): void {
    this.#replica.put({ key, value, expiresAtMs: this.#clock.nowMs + ttlMs, ...this.#clock.next() });
    this.#unsent.add(key);
    if (this.#session) void this.flush();
  }

  /** Sends writes in batches: writes of one turn together, further ones in the next batch. */
  async #sendAll(): Promise<void> {
    await Promise.resolve();
    for (let writes = this.#nextWrites(); writes.length > 0; writes = this.#nextWrites()) {
      if (!this.#session || !(await this.#sent(this.#session, writes))) return;
      for (const { key, at } of writes) if (this.#replica.get(key)?.at === at) this.#unsent.delete(key);
    }
  }

  /** Next batch of unsent writes, without entries that the replica has dropped as expired. */
  #nextWrites(): readonly LwwEntry[] {
    const writes: LwwEntry[] = [];
    for (const key of this.#unsent) {
      const write = this.#replica.get(key);
      if (write) writes.push(write);
      else this.#unsent.delete(key);
      if (writes.length === maxBatchSize) break;
    }
    return writes;
  }

  /** Sends a batch; false if that fails, which ends the session. The next session sends the batch again. */
  #sent(session: RedisSession, writes: readonly LwwEntry[]): Promise<boolean> {
    const { shared, expiry, channels } = this.#names;
    const args = writes.flatMap((write) => [write.key, this.#endOf(write), this.#written(write)]);
    return session.run(writeShared, [shared, expiry], [channels.shared, ...args]).then(
      () => true,
      () => false,
    );
  }

  /**
   * Sends a record again that Redis has lost, or has in an older version. After a long outage a lost record
   * is dropped instead: another instance may have deleted it, and Redis keeps deletions only for
   * `deletedMs`.
   */
  #resend(own: LwwEntry, stored: LwwEntry | undefined): void {
    if (stored ? !isLater(own, stored) : this.#unsent.has(own.key)) return;
    const awayMs = this.#clock.nowMs - (this.#lostAtMs ?? this.#clock.nowMs);
    if (stored || awayMs < deletedMs) this.#unsent.add(own.key);
    else this.#replica.forget(own.key);
  }

  /** Restamps writes that were made while the clock of this machine was wrong. */
  #correctFarAhead(): void {
    for (const own of this.#replica.current()) {
      if (!this.#clock.isFarAhead(own.at)) continue;
      this.#replica.forget(own.key);
      this.#replica.put({ ...own, ...this.#clock.next() });
    }
  }

  async *#recordsAt(session: RedisSession): AsyncGenerator<string> {
    let cursor = '0';
    do {
      const scan = session.ask((redis) => redis.hscan(this.#names.shared, cursor, 'COUNT', 1000));
      const [next, found]: [string, string[]] = await scan;
      for (const [at, text] of found.entries()) if (at % 2 === 1) yield text;
      cursor = next;
    } while (cursor !== '0');
  }

  #endOf({ expiresAtMs }: LwwEntry): number {
    return expiresAtMs === Infinity ? 0 : this.#clock.toShared(expiresAtMs);
  }

  #written(write: LwwEntry): string {
    const { at, tie, key, value } = write;
    const head = [at, tie, this.#endOf(write), key];
    return JSON.stringify(value === undefined ? head : [...head, value]);
  }

  /** Reads a record; undefined for one that no correct instance would write. */
  #read(text: string): LwwEntry | undefined {
    const record = parseRecord(text);
    if (!record || this.#clock.isFarAhead(record[0])) return undefined;
    const [at, tie, end, key, value] = record;
    return { at, tie, key, value, expiresAtMs: end === 0 ? Infinity : this.#clock.toOwn(end) };
  }
}

type Record = [at: number, tie: number, end: number, key: string, value?: Json];

function parseRecord(text: string): Record | undefined {
  let record: unknown;
  try {
    record = JSON.parse(text);
  } catch {
    return undefined; // text of something else that writes to this Redis
  }
  if (!Array.isArray(record)) return undefined;
  const [at, tie, end, key] = record as readonly unknown[];
  const isRecord = [at, tie, end].every(Number.isFinite) && typeof key === 'string';
  return isRecord ? (record as Record) : undefined; // its value is JSON
}

/** Retention of deletions, so that an older write does not restore a deleted key. */
const deletedMs = 3_600_000;
const maxBatchSize = 200;
