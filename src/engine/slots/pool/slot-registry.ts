import { growingCache } from '../../../kit/growing-cache.js';
import type { CacheStats } from '../../../plugin/core.js';
import type { Json } from '../../../plugin/index.js';
import { ConfigError, type SlotConfig } from '../../../config/config.js';
import { isSameAccount, isSameUpstream, openSlot, type OpenOptions } from '../open-slot.js';
import { noSuchSlot } from '../refusal.js';
import { SlotEntry, type EntryParts } from './slot-entry.js';
import { startInTime } from '../open-in-time.js';
import type { PermitRegistry } from './slot-permits.js';
import type { UpstreamSlot } from '../upstream/upstream-slot.js';

/**
 * Registry of the open slots of the config. A reload adds and removes slots, and keeps the state of the
 * others.
 */
export class SlotRegistry {
  readonly #permits: PermitRegistry;
  readonly #parts: Omit<EntryParts, 'permits'>;
  #entries: readonly SlotEntry[] = [];
  /** Open upstreams, including those that a reload has replaced, until their last user releases them. */
  readonly #open = new Set<UpstreamSlot>();
  /** Prices of slots that a reload has removed, whose last calls may still be running. */
  readonly #dismissed = growingCache<UpstreamSlot['prices']>(1000);
  /** Secrets of upstreams that a reload has replaced or removed, whose last calls may still be running. */
  readonly #earlierSecrets = growingCache<readonly string[]>(1000);

  constructor(permits: PermitRegistry, parts: Omit<EntryParts, 'permits'>) {
    this.#permits = permits;
    this.#parts = parts;
  }

  get entries(): readonly SlotEntry[] {
    return this.#entries;
  }

  /** Cache statistics of the cooldowns of all slots. */
  get cooldowns(): CacheStats {
    const fills = this.#entries.map(({ cooldowns }) => cooldowns.fill);
    const sum = (field: keyof CacheStats) => fills.reduce((total, fill) => total + fill[field], 0);
    return { entries: sum('entries'), capacity: sum('capacity') };
  }

  find(id: string): SlotEntry | undefined {
    return this.#entries.find((entry) => entry.id === id);
  }

  /** Prices of a slot, also of one that was removed not long ago. */
  pricesOf(id: string): UpstreamSlot['prices'] | undefined {
    return this.find(id)?.slot.prices ?? this.#dismissed.get(id);
  }

  /** Texts of a slot that no message may show, also of one that was replaced or removed not long ago. */
  secretsOf(id: string): readonly string[] {
    return [...(this.find(id)?.slot.secrets ?? []), ...(this.#earlierSecrets.get(id) ?? [])];
  }

  /** Finds a slot by id. Throws `not_found` if there is none. */
  get(id: string): SlotEntry {
    const entry = this.find(id);
    if (!entry) throw noSuchSlot(id);
    return entry;
  }

  /** Applies the slots of a new config. Throws the error of a plugin; then nothing has changed. */
  async reload(slots: readonly SlotConfig[], options: OpenOptions): Promise<void> {
    const opened = await this.#openChanged(slots, options);
    const before = this.#entries;
    this.#entries = slots.map((config, order) => this.#settle(config, order, opened.get(config.id)));
    for (const entry of before) if (!this.#entries.includes(entry)) this.#dismiss(entry);
    this.#permits.prune((id) => this.find(id) !== undefined);
  }

  /** Starts all slots. Throws a ConfigError with the problems of all. */
  start(timeoutMs: number | undefined): Promise<void> {
    const configs = this.#entries.map(({ config }) => config);
    return startEach(configs, (id) => this.find(id)?.slot, timeoutMs);
  }

  /** Merges a message of another instance about a slot, addressed as in `partsOf`. */
  merge([id = '', ...subject]: readonly string[], value: Json): void {
    const entry = this.find(id);
    const topic = subject.pop();
    if (!entry || topic === undefined) return;
    const [digest] = subject;
    if (digest === undefined) entry.merge(topic, value);
    else if (digest === entry.slot.health.digest) entry.slot.health.merge(topic, value);
  }

  async close(): Promise<void> {
    for (const entry of this.#entries) entry.stop();
    await Promise.all([...this.#open].map((slot) => slot.close()));
  }

  /** Opens the new upstreams, by slot id; if one fails, closes those opened before it. */
  async #openChanged(
    slots: readonly SlotConfig[],
    options: OpenOptions,
  ): Promise<ReadonlyMap<string, UpstreamSlot>> {
    const opened = new Map<string, UpstreamSlot>();
    try {
      for (const config of slots) {
        const plugins = await options.plugins.slot(config);
        const next = { config, plugins };
        const known = this.find(config.id);
        const before = known && { config: known.config, plugins: known.slot.plugins };
        if (before && isSameUpstream(before, next)) continue;
        const identity = before && isSameAccount(before, next) ? known?.slot : undefined;
        opened.set(config.id, await openSlot(config, plugins, options, identity));
      }
      if (options.starts) await startEach(slots, (id) => opened.get(id), options.plugins.timeoutMs);
    } catch (error) {
      const isKept = ({ id, account }: UpstreamSlot) => this.find(id)?.slot.account === account;
      await Promise.allSettled(
        [...opened.values()].map((slot) => slot.close({ keepsAccount: isKept(slot) })),
      );
      throw error;
    }
    return opened;
  }

  #settle(config: SlotConfig, order: number, slot: UpstreamSlot | undefined): SlotEntry {
    if (slot) this.#open.add(slot);
    const known = this.find(config.id);
    if (known) return this.#reconfigure(known, config, order, slot);
    if (!slot) throw new Error(`Slot "${config.id}" is new and was not opened.`);
    slot.health.join();
    return new SlotEntry(config, order, slot, { ...this.#parts, permits: this.#permits.of(config.id) });
  }

  #reconfigure(
    entry: SlotEntry,
    config: SlotConfig,
    order: number,
    slot: UpstreamSlot | undefined,
  ): SlotEntry {
    const before = entry.slot;
    entry.configure(config, order, slot);
    if (!slot) return entry;
    this.#retire(before, { keepsAccount: slot.account === before.account });
    if (slot.health !== before.health) {
      before.health.leave();
      slot.health.join();
    }
    return entry;
  }

  #dismiss(entry: SlotEntry): void {
    this.#dismissed.set(entry.id, entry.slot.prices);
    entry.slot.health.leave();
    entry.leave();
    this.#retire(entry.slot);
  }

  #retire(slot: UpstreamSlot, options?: { readonly keepsAccount: boolean }): void {
    const earlier = this.#earlierSecrets.get(slot.id) ?? [];
    this.#earlierSecrets.set(slot.id, [...new Set([...slot.secrets, ...earlier])].slice(0, maxEarlier));
    slot.retire(() => this.#open.delete(slot), options);
  }
}

/** Secrets that are known of one slot after reloads. */
const maxEarlier = 30;

/** Starts slots, all at once. Throws a ConfigError with the problems of all. */
async function startEach(
  configs: readonly SlotConfig[],
  find: (id: string) => UpstreamSlot | undefined,
  timeoutMs: number | undefined,
): Promise<void> {
  const starts = configs.map(async (config) => {
    const slot = find(config.id);
    if (slot) await startInTime(config, slot, timeoutMs);
  });
  const failed = (await Promise.allSettled(starts)).filter((result) => result.status === 'rejected');
  const problems = failed.flatMap(({ reason }) => (reason as ConfigError).problems); // `starting` throws no other
  if (problems.length > 0) throw new ConfigError(problems);
}
