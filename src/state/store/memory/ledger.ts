import type {
  AppendedRow,
  LatencySum,
  Ledger,
  LedgerPage,
  LedgerRow,
  LedgerRowKey,
} from '../../ledger/contract.js';
import type { Caches, LedgerFilter, UsageGroup, UsageQuery, UsageSum } from '../../../plugin/core.js';
import {
  addToCombination,
  combinationKey,
  combinationOf,
  type Combination,
} from '../../ledger/combination.js';
import { addCount, LatencyGroups } from '../../ledger/latency/latency.js';
import { latencyReading } from '../../ledger/latency/latency-reading.js';
import { matches } from '../../ledger/filters.js';
import { askedModelOf, rowGroups } from '../../ledger/groups.js';
import { addSums } from '../../ledger/sums.js';
import { bucketsOf, conditionsOf, hourlyGroup, hourOf, tagGroups } from '../../ledger/usage-query.js';
import { readCursor, writeCursor } from '../page-cursor.js';
import { stepResult, type StepResult } from '../../step-result.js';

/** A ledger that keeps the latest rows, and hourly sums that include dropped ones. */
export class MemoryLedger implements Ledger {
  readonly #max: number;
  /** In the order of their arrival. */
  readonly #rows = new Map<string, LedgerRow>();
  readonly #hours = new Map<string, Combination>();
  readonly #onAdded: (row: AppendedRow) => void;

  /** `onAdded`: called with each new row, whose error texts are not kept here. */
  constructor(max: number, onAdded: (row: AppendedRow) => void = ignore) {
    this.#max = max;
    this.#onAdded = onAdded;
  }

  get caches(): Caches {
    const capacity = this.#max;
    return {
      memory_ledger_rows: () => ({ entries: this.#rows.size, capacity }),
      memory_ledger_hours: () => ({ entries: this.#hours.size, capacity }),
    };
  }

  async append(rows: readonly AppendedRow[]): Promise<void> {
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
    const rows = found.slice(0, size).map(withoutTrace);
    const last = rows.at(-1);
    return { rows, ...(found.length > size && last && { cursor: writeCursor(last) }) };
  }

  async get({ atMs, id }: LedgerRowKey): Promise<LedgerRow | undefined> {
    const row = this.#rows.get(id);
    return row?.atMs === atMs ? row : undefined;
  }

  async find(keys: readonly LedgerRowKey[]): Promise<readonly LedgerRow[]> {
    const rows = await Promise.all(keys.map((key) => this.get(key)));
    return rows.flatMap((row) => (row ? [withoutTrace(row)] : []));
  }

  async usage(query: UsageQuery): Promise<readonly UsageSum[]> {
    const { fromMs, toMs, stepMs, isHourly } = bucketsOf(query);
    const sums = new Map<string, UsageSum>();
    const conditions = conditionsOf(query);
    const hasHours = isHourly && hourlyGroup(query) !== undefined;
    for (const combination of hasHours ? this.#hours.values() : this.#singles()) {
      if (combination.atMs < fromMs || combination.atMs >= toMs) continue;
      if (!matches(combination.row, conditions)) continue;
      const atMs = fromMs + Math.floor((combination.atMs - fromMs) / stepMs) * stepMs;
      for (const [group, sum] of groupsOf(combination, query))
        add(sums, JSON.stringify([atMs, group]), { ...sum, atMs, group });
    }
    const ordered = [...sums.values()].toSorted((a, b) => a.atMs - b.atMs || (a.group < b.group ? -1 : 1));
    return ordered.slice(0, query.limit);
  }

  async latency(query: UsageQuery): Promise<readonly LatencySum[]> {
    const { fromMs, toMs, stepMs, isHourly } = bucketsOf(query);
    const reading = latencyReading(query, isHourly);
    const groups = new LatencyGroups();
    if (!reading) return [];
    const conditions = conditionsOf(query);
    const isCounted = reading.from === 'counts' && !reading.except;
    for (const { atMs, row, latency } of isCounted ? this.#hours.values() : this.#singles()) {
      if (atMs < fromMs || atMs >= toMs || !matches(row, conditions)) continue;
      const startMs = fromMs + Math.floor((atMs - fromMs) / stepMs) * stepMs;
      const counts = groups.of(startMs, nameIn(row, query.by));
      for (const count of latency.values()) addCount(counts, count);
    }
    return groups.sums();
  }

  async prune(beforeMs: number, limit: number): Promise<StepResult> {
    const isOld = (ms: number) => ms < hourOf(beforeMs);
    const hours = [...this.#hours].filter(([, { sum }]) => isOld(sum.atMs)).slice(0, limit);
    for (const [key] of hours) this.#hours.delete(key);
    const rows = [...this.#rows.values()].filter(({ atMs }) => isOld(atMs)).slice(0, limit);
    for (const { id } of rows) this.#rows.delete(id);
    return stepResult(rows.length, limit);
  }

  *#singles(): Generator<Combination> {
    for (const row of this.#rows.values()) yield combinationOf(row, row.atMs);
  }

  #add(added: AppendedRow): void {
    this.#onAdded(added);
    const { errorTexts: _, ...row } = added;
    this.#rows.set(row.id, row);
    dropFirst(this.#rows, this.#max);
    const key = combinationKey(row);
    const known = this.#hours.get(key);
    if (known) addToCombination(known, row);
    else this.#hours.set(key, combinationOf(row, hourOf(row.atMs)));
    dropFirst(this.#hours, this.#max);
  }
}

function withoutTrace({ trace: _, ...row }: LedgerRow): LedgerRow {
  return row;
}

function add(sums: Map<string, UsageSum>, key: string, sum: UsageSum): void {
  const known = sums.get(key);
  sums.set(key, known ? addSums(known, sum) : sum);
}

function groupsOf(
  { row, sum, stages }: Combination,
  { by, tag }: UsageQuery,
): Iterable<readonly [string, UsageSum]> {
  if (by === 'stage') return stages;
  if (by === 'tag') return tagGroups(row, tag).map((group) => [group, sum]);
  if (by === 'asked_model') return [[askedModelOf(row), sum]];
  if (by === 'cause') return row.cache ? [[row.cache.cause, sum]] : [];
  return [[nameIn(row, by), sum]];
}

/** Name of a row in a group; '' if it may have none, or several. */
function nameIn(row: LedgerRow, by: UsageGroup | null): string {
  return rowGroups.find(({ group }) => group === by)?.of(row) ?? '';
}

function newestFirst(a: LedgerRowKey, b: LedgerRowKey): number {
  return b.atMs - a.atMs || (a.id === b.id ? 0 : a.id < b.id ? 1 : -1);
}

function dropFirst(map: Map<string, unknown>, max: number): void {
  if (map.size <= max) return;
  for (const first of map.keys()) {
    map.delete(first);
    return;
  }
}

function ignore(): void {
  // Error texts that nobody keeps.
}
