import type { SlotConfig } from '../config/config.js';
import { isSameAccount, isSameUpstream, openSlot, type Surroundings } from './open-slot.js';
import { noSuchSlot } from './refusal.js';
import { SlotEntry } from './slot-entry.js';
import type { UpstreamSlot } from './upstream-slot.js';

/** The slots of the config, opened; a reload changes which there are and keeps what became of the others. */
export class Roster {
  #entries: readonly SlotEntry[] = [];
  /** Those that a reload has replaced included, as long as somebody uses them. */
  readonly #open = new Set<UpstreamSlot>();

  get entries(): readonly SlotEntry[] {
    return this.#entries;
  }

  find(id: string): SlotEntry | undefined {
    return this.#entries.find((entry) => entry.id === id);
  }

  /** Throws `not_found` where there is no such slot. */
  get(id: string): SlotEntry {
    const entry = this.find(id);
    if (!entry) throw noSuchSlot(id);
    return entry;
  }

  /** Takes the slots of a new config. Throws what an adapter throws: then nothing has changed. */
  async reload(slots: readonly SlotConfig[], surroundings: Surroundings): Promise<void> {
    const opened = await this.#openChanged(slots, surroundings);
    const before = this.#entries;
    this.#entries = slots.map((config, order) => this.#settle(config, order, opened.get(config.id)));
    for (const entry of before) if (!this.#entries.includes(entry)) this.#retire(entry.slot);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map((slot) => slot.close()));
  }

  /** The new upstreams by slot id; where one fails, those opened before it are closed again. */
  async #openChanged(
    slots: readonly SlotConfig[],
    surroundings: Surroundings,
  ): Promise<ReadonlyMap<string, UpstreamSlot>> {
    const opened = new Map<string, UpstreamSlot>();
    try {
      for (const config of slots) {
        const known = this.find(config.id);
        if (known && isSameUpstream(known.config, config)) continue;
        const identity = known && isSameAccount(known.config, config) ? known.slot : undefined;
        opened.set(config.id, await openSlot(config, surroundings, identity));
      }
    } catch (error) {
      await Promise.allSettled([...opened.values()].map((slot) => slot.close()));
      throw error;
    }
    return opened;
  }

  #settle(config: SlotConfig, order: number, slot: UpstreamSlot | undefined): SlotEntry {
    if (slot) this.#open.add(slot);
    const known = this.find(config.id);
    if (known) {
      if (slot) this.#retire(known.slot);
      known.configure(config, order, slot);
      return known;
    }
    if (!slot) throw new Error(`Slot "${config.id}" is new and was not opened.`);
    return new SlotEntry(config, order, slot);
  }

  #retire(slot: UpstreamSlot): void {
    slot.retire(() => this.#open.delete(slot));
  }
}
