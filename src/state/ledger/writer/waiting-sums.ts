import type { LedgerRow, LedgerRowKey } from '../contract.js';
import type { LimitHolder, UsageSum } from '../../../plugin/core.js';
import { addSums, sumOf } from '../sums.js';
import { dayMs } from '../../../kit/time/clock.js';

/** Days of UTC of a key or a team, unix milliseconds. */
export interface WaitingQuery {
  readonly fromMs: number;
  readonly toMs: number;
  readonly keyId?: string;
  readonly team?: string;
}

/** Rows of a key or a team that wait for the store. */
export interface WaitingUse {
  /** Null if none wait. */
  readonly sum: UsageSum | null;
  /** Changes once the store has accepted one of them; null while some are being passed to it. */
  readonly version: number | null;
  /**
   * Rows of the sum that the store may already have, as they were sent without a known answer. At most 500: further
   * ones count twice, as do all those of an earlier version, which names none.
   */
  readonly unconfirmed?: readonly LedgerRowKey[];
}

interface WaitingDay {
  readonly atMs: number;
  sum: UsageSum;
  version: number;
}

interface Unconfirmed {
  readonly key: LedgerRowKey;
  readonly holders: readonly string[];
}

/** Sums of rows that wait, by key and by team, for each day. */
export class WaitingSums {
  /** By id. */
  readonly #unconfirmed = new Map<string, Unconfirmed>();
  readonly #days = new Map<string, Map<number, WaitingDay>>();
  #rows = 0;

  /** Number of rows. */
  get rows(): number {
    return this.#rows;
  }

  add(row: LedgerRow, version: number): void {
    this.#rows += 1;
    const atMs = dayOf(row.atMs);
    for (const holder of holdersOf(row)) {
      const days = this.#days.get(holder) ?? new Map<number, WaitingDay>();
      this.#days.set(holder, days);
      const day = days.get(atMs);
      if (day) day.sum = addSums(day.sum, sumOf(row));
      else days.set(atMs, { atMs, sum: sumOf(row, atMs), version });
    }
  }

  /** Records that the store may have these of the rows, up to 500. */
  markUnconfirmed(rows: readonly LedgerRow[]): void {
    for (const row of rows) {
      if (this.#unconfirmed.size >= maxUnconfirmed) return;
      const { id, atMs } = row;
      this.#unconfirmed.set(id, { key: { atMs, id }, holders: holdersOf(row) });
    }
  }

  /** Removes rows that the store has accepted. */
  remove(rows: readonly LedgerRow[], version: number): void {
    for (const row of rows) {
      this.#unconfirmed.delete(row.id);
      this.#rows -= 1;
      for (const holder of holdersOf(row)) this.#subtract(holder, row, version);
    }
  }

  of(query: WaitingQuery): WaitingUse {
    const { fromMs, toMs, ...holder } = query;
    const days = [...(this.#days.get(nameOf(holder))?.values() ?? [])];
    const asked = days.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
    return {
      sum:
        asked.length === 0 ? null : asked.map(({ sum }) => sum).reduce((one, other) => addSums(one, other)),
      version: Math.max(0, ...asked.map(({ version }) => version)),
      ...unconfirmedOf(this.#unconfirmedIn(query)),
    };
  }

  #unconfirmedIn({ fromMs, toMs, ...holder }: WaitingQuery): readonly LedgerRowKey[] {
    const name = nameOf(holder);
    return [...this.#unconfirmed.values()]
      .filter(({ key: { atMs }, holders }) => atMs >= fromMs && atMs < toMs && holders.includes(name))
      .map(({ key }) => key);
  }

  #subtract(holder: string, row: LedgerRow, version: number): void {
    const days = this.#days.get(holder);
    const day = days?.get(dayOf(row.atMs));
    if (!days || !day) return;
    day.sum = addSums(day.sum, sumOf(row), -1);
    day.version = version;
    if (day.sum.requests === 0) days.delete(day.atMs);
    if (days.size === 0) this.#days.delete(holder);
  }
}

/** True for a row of the key or team, in these days. */
export function isAsked({ fromMs, toMs, ...holder }: WaitingQuery, row: LedgerRow): boolean {
  return row.atMs >= fromMs && row.atMs < toMs && holdersOf(row).includes(nameOf(holder));
}

/** Keys and teams of some rows. */
export class Holders {
  readonly #found = new Map<string, LimitHolder>();

  add(rows: readonly LedgerRow[]): void {
    for (const { keyId, team } of rows) {
      if (keyId !== undefined) this.#found.set(nameOf({ keyId }), { kind: 'key', id: keyId });
      if (team !== undefined) this.#found.set(nameOf({ team }), { kind: 'team', id: team });
    }
  }

  restore(holders: readonly LimitHolder[]): void {
    for (const holder of holders) this.#found.set(nameOf(idOf(holder)), holder);
  }

  /** Returns them, and resets them. */
  takeAll(): readonly LimitHolder[] {
    const found = [...this.#found.values()];
    this.#found.clear();
    return found;
  }
}

/** Sum of two: the rows of both, and a version that changes whenever one of theirs does; unconfirmed rows up to 500. */
export function bothWaiting(one: WaitingUse, other: WaitingUse): WaitingUse {
  const sum = one.sum && other.sum ? addSums(one.sum, other.sum) : (one.sum ?? other.sum);
  const isSettled = one.version !== null && other.version !== null;
  const unconfirmed = [...(one.unconfirmed ?? []), ...(other.unconfirmed ?? [])];
  return {
    sum,
    version: isSettled ? Math.max(one.version, other.version) : null,
    ...unconfirmedOf(unconfirmed),
  };
}

function unconfirmedOf(keys: readonly LedgerRowKey[]): Pick<WaitingUse, 'unconfirmed'> {
  return keys.length === 0 ? {} : { unconfirmed: keys.slice(0, maxUnconfirmed) };
}

/** Two batches: that of the writer, and a step of the drain. */
const maxUnconfirmed = 500;

function holdersOf({ keyId, team }: Pick<LedgerRow, 'keyId' | 'team'>): readonly string[] {
  const names = keyId === undefined ? [] : [nameOf({ keyId })];
  return team === undefined ? names : [...names, nameOf({ team })];
}

function idOf({ kind, id }: LimitHolder): Pick<WaitingQuery, 'keyId' | 'team'> {
  return kind === 'team' ? { team: id } : { keyId: id };
}

function nameOf({ keyId, team }: Pick<WaitingQuery, 'keyId' | 'team'>): string {
  return team === undefined ? `key ${keyId}` : `team ${team}`;
}

function dayOf(ms: number): number {
  return Math.floor(ms / dayMs) * dayMs;
}
