import type { AuditEntry, AuditFilter, AuditLog } from '../contract/audit.js';
import type { CacheStats } from '../../../plugin/core.js';
import { readCursor, writeCursor } from '../page-cursor.js';
import { stepResult, type StepResult } from '../../step-result.js';

/** Audit log in memory: keeps the latest entries. */
export class MemoryAuditLog implements AuditLog {
  readonly #max: number;
  /** In the order of their arrival. */
  readonly #entries = new Map<string, AuditEntry>();

  constructor(max: number) {
    this.#max = max;
  }

  get fill(): CacheStats {
    return { entries: this.#entries.size, capacity: this.#max };
  }

  async append(entries: readonly AuditEntry[]): Promise<void> {
    for (const entry of entries) {
      if (this.#entries.has(entry.id)) continue;
      this.#entries.set(entry.id, entry);
      const [oldest] = this.#entries.keys();
      if (this.#entries.size > this.#max && oldest !== undefined) this.#entries.delete(oldest);
    }
  }

  async page(
    filter: AuditFilter,
    { cursor, limit }: { readonly cursor?: string; readonly limit: number },
  ): ReturnType<AuditLog['page']> {
    const after = cursor === undefined ? undefined : readCursor(cursor);
    const size = Math.min(limit, 1000);
    const found = [...this.#entries.values()]
      .filter((entry) => matches(entry, filter) && (!after || newestFirst(after, entry) < 0))
      .toSorted(newestFirst);
    const entries = found.slice(0, size);
    const last = entries.at(-1);
    return { entries, ...(found.length > size && last && { cursor: writeCursor(last) }) };
  }

  async prune(beforeMs: number, limit: number): Promise<StepResult> {
    const old = [...this.#entries.values()].filter(({ atMs }) => atMs < beforeMs);
    const oldest = old.toSorted(newestFirst).slice(Math.max(0, old.length - limit));
    for (const { id } of oldest) this.#entries.delete(id);
    return stepResult(oldest.length, limit);
  }
}

type Place = Pick<AuditEntry, 'atMs' | 'id'>;

function newestFirst(a: Place, b: Place): number {
  return b.atMs - a.atMs || (a.id === b.id ? 0 : a.id < b.id ? 1 : -1);
}

function matches(entry: AuditEntry, { actor, action, fromMs = 0, toMs = Infinity, ...equal }: AuditFilter) {
  return (
    entry.atMs >= fromMs &&
    entry.atMs < toMs &&
    (actor === undefined || entry.actor.name === actor) &&
    (action === undefined || isOfAction(entry.action, action)) &&
    (equal.target === undefined || entry.target === equal.target) &&
    (equal.outcome === undefined || entry.outcome === equal.outcome)
  );
}

function isOfAction(action: string, wanted: string): boolean {
  return wanted.endsWith('.*') ? action.startsWith(wanted.slice(0, -1)) : action === wanted;
}
