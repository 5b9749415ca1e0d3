import { LRUCache } from 'lru-cache';

/** Refused parts by slot and upstream model, kept for a time: the entries of `SlotCall.without`. */
export class RefusalMemory {
  readonly #keepMs: number;
  readonly #now: () => number;
  readonly #models = new LRUCache<string, Map<string, Kept>>({ max: maxModels });

  constructor(keepMs: number, now: () => number) {
    this.#keepMs = keepMs;
    this.#now = now;
  }

  /** Entries for a call of this model; undefined: none. */
  of(slot: string, model: string): ReadonlySet<string> | undefined {
    if (this.#models.size === 0) return undefined;
    const kept = this.#models.get(keyOf(slot, model));
    if (!kept) return undefined;
    const nowMs = this.#now();
    const entries = [...kept.values()].filter(({ untilMs }) => nowMs < untilMs);
    return entries.length > 0 ? new Set(entries.map(({ entry }) => entry)) : undefined;
  }

  /** Keeps an entry, in place of the one of its name. */
  keep(slot: string, model: string, entry: string): void {
    if (this.#keepMs === 0 || model.length > maxNameLength) return;
    const key = keyOf(slot, model);
    const kept = this.#models.get(key) ?? new Map<string, Kept>();
    kept.set(nameOf(entry), { entry, untilMs: this.#now() + this.#keepMs });
    this.#models.set(key, kept);
  }
}

interface Kept {
  readonly entry: string;
  /** Unix milliseconds. */
  readonly untilMs: number;
}

/** Max pairs of a slot and a model, more than a config has. */
const maxModels = 1000;

/** Longer texts name no model; callers may send any. */
const maxNameLength = 200;

function keyOf(slot: string, model: string): string {
  return `${slot}\n${model}`;
}

/** Name of an entry, without the value that is sent instead: `effort` of `effort=low,high`. */
export function nameOf(entry: string): string {
  const end = entry.indexOf('=');
  return end < 0 ? entry : entry.slice(0, end);
}

/** Entries with another one, in place of that of its name. */
export function withEntry(entries: ReadonlySet<string> | undefined, entry: string): ReadonlySet<string> {
  const others = [...(entries ?? [])].filter((other) => nameOf(other) !== nameOf(entry));
  return new Set([...others, entry]);
}
