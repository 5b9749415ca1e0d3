import type { LRUCache } from 'lru-cache';
import { growingCache } from '../../../kit/growing-cache.js';
import {
  maxSlotChanges,
  type SlotChange,
  type SlotHistory,
  type WindowSample,
} from '../contract/slot-history.js';
import type { CacheStats } from '../../../plugin/core.js';
import { isNewChange } from '../slot-changes.js';
import { stepResult, type StepResult } from '../../step-result.js';

/** History of slots in memory: the latest changes and samples of each. */
export class MemorySlotHistory implements SlotHistory {
  /** By slot, oldest first. */
  readonly #changes: LRUCache<string, { readonly list: SlotChange[] }>;
  /** By slot and window, oldest first. */
  readonly #samples: LRUCache<string, { readonly list: WindowSample[] }>;
  readonly #max: number;

  constructor(maxSlots: number) {
    this.#max = maxSlots;
    this.#changes = growingCache(maxSlots);
    this.#samples = growingCache(2 * maxSlots);
  }

  get fill(): CacheStats {
    return { entries: this.#changes.size, capacity: this.#max };
  }

  async append(changes: readonly SlotChange[]): Promise<void> {
    for (const change of changes) {
      const { list } = this.#changes.get(change.slot) ?? { list: [] };
      if (!isNewChange(list.at(-1), change)) continue;
      list.push(change);
      if (list.length > maxSlotChanges) list.shift();
      this.#changes.set(change.slot, { list });
    }
  }

  async changes(slot: string, limit: number): Promise<readonly SlotChange[]> {
    return this.#changes.get(slot)?.list.toReversed().slice(0, limit) ?? [];
  }

  async sample(samples: readonly WindowSample[]): Promise<void> {
    for (const sample of samples) {
      const key = `${sample.window}/${sample.slot}`;
      const { list } = this.#samples.get(key) ?? { list: [] };
      const last = list.at(-1);
      if (last && last.atMs >= sample.atMs) continue;
      list.push(sample);
      if (list.length > maxSamples) list.shift();
      this.#samples.set(key, { list });
    }
  }

  async samples(fromMs: number): Promise<readonly WindowSample[]> {
    const all = [...this.#samples.values()].flatMap(({ list }) => list);
    return all.filter(({ atMs }) => atMs >= fromMs).toSorted((a, b) => a.atMs - b.atMs);
  }

  async prune(beforeMs: number, limit: number): Promise<StepResult> {
    const steps = [this.#changes, this.#samples].map((lists) =>
      stepResult(pruned(lists, beforeMs, limit), limit),
    );
    return { isDone: steps.every(({ isDone }) => isDone) };
  }
}

/** Samples of one window: those of eight days. */
const maxSamples = 400;

type Lists = Pick<LRUCache<string, { readonly list: { readonly atMs: number }[] }>, 'entries' | 'delete'>;

function pruned(lists: Lists, beforeMs: number, limit: number): number {
  let count = 0;
  const all = Array.from(lists.entries());
  for (const [key, { list }] of all) {
    const old = list.filter(({ atMs }) => atMs < beforeMs).length;
    count += list.splice(0, Math.min(old, limit - count)).length;
    if (list.length === 0) lists.delete(key);
  }
  return count;
}
