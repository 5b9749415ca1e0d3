import type { AppendedRow, LedgerRowKey } from '../../ledger/contract.js';
import type { CacheStats } from '../../../plugin/core.js';
import type { ErrorTexts, ErrorTextStore } from '../../ledger/error-texts.js';
import { stepResult, type StepResult } from '../../step-result.js';

/** Error texts in memory; the oldest go first. */
export class MemoryErrorTexts implements ErrorTextStore {
  readonly #max: number;
  readonly #kept = new Map<string, { readonly atMs: number; readonly texts: ErrorTexts }>();

  constructor(max: number) {
    this.#max = max;
  }

  get fill(): CacheStats {
    return { entries: this.#kept.size, capacity: this.#max };
  }

  add({ id, atMs, errorTexts }: AppendedRow): void {
    if (!errorTexts) return;
    this.#kept.set(id, { atMs, texts: errorTexts });
    const [first] = this.#kept.keys();
    if (this.#kept.size > this.#max && first !== undefined) this.#kept.delete(first);
  }

  async find(rows: readonly LedgerRowKey[]): Promise<ReadonlyMap<string, ErrorTexts>> {
    const found = new Map<string, ErrorTexts>();
    for (const { id, atMs } of rows) {
      const kept = this.#kept.get(id);
      if (kept?.atMs === atMs) found.set(id, kept.texts);
    }
    return found;
  }

  async prune(beforeMs: number, limit: number): Promise<StepResult> {
    const old = [...this.#kept].filter(([, { atMs }]) => atMs < beforeMs).slice(0, limit);
    for (const [id] of old) this.#kept.delete(id);
    return stepResult(old.length, limit);
  }
}
