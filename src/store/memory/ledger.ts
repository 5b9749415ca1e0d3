import type {
  Caches,
  Ledger,
  LedgerFilter,
  LedgerPage,
  LedgerRow,
  UsageQuery,
  UsageSum,
} from '../../plugin/internal.js';
import {
  addSums,
  bucketsOf,
  hourOf,
  readCursor,
  sumOf,
  tagGroups,
  writeCursor,
  type ColumnGroup,
} from '../../ledger/usage.js';

/** The sum of one hour, of all rows that share what they can be grouped by. */
interface Hour {
  readonly row: LedgerRow;
  readonly sum: UsageSum;
}

/** A ledger that keeps the latest rows, and hourly sums also of those that it no longer has. */
export class MemoryLedger implements Ledger {
  readonly #max: number;
  /** In the order of their coming. */
  readonly #rows = new Map<string, LedgerRow>();
  readonly #hours = new Map<string, Hour>();

  constructor(max: number) {
    this.#max = max;
  }

  get caches(): Caches {
    const capacity = this.#max;
    return {
      memory_ledger_rows: () => ({ entries: this.#rows.size, capacity }),
      memory_ledger_hours: () => ({ entries: this.#hours.size, capacity }),
    };
  }

  async append(rows: readonly LedgerRow[]): Promise<void> {
    for (const row of rows) if (!this.#rows.has(row.id)) this.#add(row);
  }

  async requests(
    filter: LedgerFilter,
    { cursor, limit }: { readonly cursor?: string; readonly limit: number },
  ): Promise<LedgerPage> {
    const after = cursor === undefined ? undefined : readCursor(cursor);
    const size = Math.min(limit, 1000);
    const found = [...this.#rows.values()]
      .filter((row) => matches(row, filter) && (!after || newestFirst(after, row) < 0))
      .toSorted(newestFirst);
    const rows = found.slice(0, size).map(({ trace: _, ...row }) => row);
    const last = rows.at(-1);
    return { rows, ...(found.length > size && last && { cursor: writeCursor(last) }) };
  }

  async get({ atMs, id }: Pick<LedgerRow, 'atMs' | 'id'>): Promise<LedgerRow | undefined> {
    const row = this.#rows.get(id);
    return row?.atMs === atMs ? row : undefined;
  }

  async usage(query: UsageQuery): Promise<readonly UsageSum[]> {
    const { fromMs, toMs, stepMs, isHourly } = bucketsOf(query);
    const sums = new Map<string, UsageSum>();
    for (const { row, sum } of isHourly ? this.#hours.values() : this.#singles()) {
      if (sum.atMs < fromMs || sum.atMs >= toMs) continue;
      if (query.keyId !== undefined && query.keyId !== groupOf.key(row)) continue;
      const atMs = fromMs + Math.floor((sum.atMs - fromMs) / stepMs) * stepMs;
      for (const group of groupsOf(row, query))
        add(sums, JSON.stringify([atMs, group]), { ...sum, atMs, group });
    }
    const ordered = [...sums.values()].toSorted((a, b) => a.atMs - b.atMs || (a.group < b.group ? -1 : 1));
    return ordered.slice(0, query.limit);
  }

  async prune(beforeMs: number, limit: number): Promise<number> {
    const isOld = (ms: number) => ms < hourOf(beforeMs);
    const hours = [...this.#hours].filter(([, { sum }]) => isOld(sum.atMs)).slice(0, limit);
    for (const [key] of hours) this.#hours.delete(key);
    const rows = [...this.#rows.values()].filter(({ atMs }) => isOld(atMs)).slice(0, limit);
    for (const { id } of rows) this.#rows.delete(id);
    return rows.length;
  }

  *#singles(): Generator<Hour> {
    for (const row of this.#rows.values()) yield { row, sum: sumOf(row) };
  }

  #add(row: LedgerRow): void {
    this.#rows.set(row.id, row);
    dropFirst(this.#rows, this.#max);
    const atMs = hourOf(row.atMs);
    const groups = Object.values(groupOf).map((group) => group(row));
    const key = JSON.stringify(row.tags ? [atMs, ...groups, row.tags] : [atMs, ...groups]);
    const own = { ...sumOf(row), atMs };
    const known = this.#hours.get(key);
    this.#hours.set(key, { row, sum: known ? addSums(known.sum, own) : own });
    dropFirst(this.#hours, this.#max);
  }
}

function add(sums: Map<string, UsageSum>, key: string, sum: UsageSum): void {
  const known = sums.get(key);
  sums.set(key, known ? addSums(known, sum) : sum);
}

function groupsOf(row: LedgerRow, { by, tag }: UsageQuery): readonly string[] {
  if (by === 'tag') return tagGroups(row, tag);
  return [by ? groupOf[by](row) : ''];
}

const groupOf: Readonly<Record<ColumnGroup, (row: LedgerRow) => string>> = {
  key: ({ keyId = '' }) => keyId,
  slot: ({ slot = '' }) => slot,
  model: ({ model = '' }) => model,
  format: ({ format }) => format,
};

function matches(row: LedgerRow, { fromMs = 0, toMs = Infinity, ...equal }: LedgerFilter): boolean {
  const fields = Object.entries(equal).filter(([, value]) => value !== undefined);
  return (
    row.atMs >= fromMs &&
    row.atMs < toMs &&
    fields.every(([field, value]) => row[field as keyof LedgerRow] === value) // fields of a filter are fields of a row
  );
}

function newestFirst(a: Pick<LedgerRow, 'atMs' | 'id'>, b: Pick<LedgerRow, 'atMs' | 'id'>): number {
  return b.atMs - a.atMs || (a.id === b.id ? 0 : a.id < b.id ? 1 : -1);
}

function dropFirst(map: Map<string, unknown>, max: number): void {
  if (map.size <= max) return;
  for (const first of map.keys()) {
    map.delete(first);
    return;
  }
}
