import { totalTokens } from '../../plugin/index.js';
import type { LedgerFilter, LedgerTokens, UsageGroup, UsageQuery, UsageSum } from '../../plugin/core.js';
import type { LedgerAddition, LedgerRow, LedgerRowKey } from './contract.js';

/** Cursor of a ledger page: the place of its last row. */
export function writeCursor({ atMs, id }: LedgerRowKey): string {
  return `${atMs}.${id}`;
}

/** Throws a TypeError on what `writeCursor` has not written. */
export function readCursor(cursor: string): LedgerRowKey {
  const [, at, id] = /^(\d{1,15})\.(.+)$/.exec(cursor) ?? [];
  if (at === undefined || id === undefined)
    throw new TypeError('The cursor is not one that a page has ended with.');
  return { atMs: Number(at), id };
}

export const hourMs = 3_600_000;

/** Unix milliseconds, cut down to the whole hour. */
export function hourOf(ms: number): number {
  return Math.floor(ms / hourMs) * hourMs;
}

/** The range of a usage query in whole milliseconds, widened to whole hours where its buckets are. */
export function bucketsOf({ fromMs, toMs, stepMs }: Omit<UsageQuery, 'by'>): Omit<UsageQuery, 'by'> & {
  readonly isHourly: boolean;
} {
  const step = Math.max(1, Math.floor(stepMs));
  const isHourly = step % hourMs === 0;
  if (!isHourly) return { fromMs: Math.floor(fromMs), toMs: Math.ceil(toMs), stepMs: step, isHourly };
  return { fromMs: hourOf(fromMs), toMs: hourOf(Math.ceil(toMs) + hourMs - 1), stepMs: step, isHourly };
}

/** A group that each row has exactly one of. */
export type ColumnGroup = Exclude<UsageGroup, 'asked_model' | 'tag' | 'stage' | 'cause'>;

/** The column of a group, in the rows and in the hours. */
export const groupColumnOf = {
  key: 'key_id',
  team: 'team',
  slot: 'slot',
  model: 'model',
  format: 'format',
} as const satisfies Readonly<Record<ColumnGroup, string>>;

/** Conditions of a usage query, those of its key included. */
export function conditionsOf({ keyId, where }: Pick<UsageQuery, 'keyId' | 'where'>): LedgerFilter {
  return { ...where, ...(keyId !== undefined && { keyId }) };
}

/** Group whose hourly sums answer a query; undefined: its rows have to be counted. */
export function hourlyGroup(
  query: UsageQuery,
): { readonly kind: UsageGroup; readonly name?: string } | undefined {
  const { by } = query;
  const conditions = Object.entries(conditionsOf(query)).filter(([, value]) => value !== undefined);
  if (conditions.length === 0) return { kind: by ?? 'format' };
  const [[field, value] = ['', ''], ...others] = conditions;
  const kind = groupOfField.get(field);
  if (!kind || others.length > 0 || (by !== null && by !== kind)) return undefined;
  return { kind, name: String(value) };
}

/** Groups of the hours, by the field of a filter. */
export const groupOfField: ReadonlyMap<string, UsageGroup> = new Map([
  ['keyId', 'key'],
  ['team', 'team'],
  ['slot', 'slot'],
  ['model', 'model'],
  ['format', 'format'],
  ['cause', 'cause'],
]);

/** True if a row matches every condition of a filter. */
export function matches(row: LedgerRow, filter: LedgerFilter): boolean {
  const { fromMs = 0, toMs = Infinity, cause, ...equal } = filter;
  const fields = Object.entries(equal).filter(([, value]) => value !== undefined);
  return (
    row.atMs >= fromMs &&
    row.atMs < toMs &&
    (cause === undefined || row.cache?.cause === cause) &&
    fields.every(([field, value]) => row[field as keyof LedgerRow] === value) // the other fields of a filter are fields of a row
  );
}

/** Model that the caller of a row asked for; '' without one. */
export function askedModelOf({ askedModel, model = '' }: Pick<LedgerRow, 'askedModel' | 'model'>): string {
  return askedModel ?? model;
}

/** Groups of a row by its tags: their names, or the value of the tag that is asked for. */
export function tagGroups({ tags = {} }: LedgerRow, tag: string | undefined): readonly string[] {
  if (tag === undefined) return Object.keys(tags);
  return Object.hasOwn(tags, tag) ? [tags[tag] ?? ''] : [];
}

/** A row as a sum of one. */
export function sumOf(row: LedgerRow): UsageSum {
  const { atMs, failed, billed, shown, firstEventMs, durationMs, cost, cache } = row;
  return {
    atMs,
    group: '',
    requests: 1,
    errors: Number(failed),
    billed,
    shown,
    firstEvents: firstEventMs === undefined ? 0 : 1,
    firstEventMsSum: firstEventMs ?? 0,
    durationMsSum: durationMs,
    billedCost: cost?.billed ?? 0,
    shownCost: cost?.shown ?? 0,
    unpriced: Number(!cost && totalTokens(billed) > 0),
    cacheLostTokens: cache?.lostTokens ?? 0,
    cacheLostCost: cache?.lostCost ?? 0,
  };
}

/** Addition of a stage to a row, as a sum of one. */
export function additionSum(row: LedgerRow, { tokens, cost }: LedgerAddition): UsageSum {
  return {
    ...sumOf(row),
    billed: tokens,
    shown: noTokens,
    billedCost: cost ?? 0,
    shownCost: 0,
    unpriced: Number(cost === undefined && totalTokens(tokens) > 0),
    cacheLostTokens: 0,
    cacheLostCost: 0,
  };
}

const noTokens: LedgerTokens = { input: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 };

/** The sum of two of one bucket and group; with `times` -1, their difference. */
export function addSums(first: UsageSum, second: UsageSum, times: 1 | -1 = 1): UsageSum {
  return {
    atMs: first.atMs,
    group: first.group,
    requests: first.requests + times * second.requests,
    errors: first.errors + times * second.errors,
    billed: addTokens(first.billed, second.billed, times),
    shown: addTokens(first.shown, second.shown, times),
    firstEvents: first.firstEvents + times * second.firstEvents,
    firstEventMsSum: first.firstEventMsSum + times * second.firstEventMsSum,
    durationMsSum: first.durationMsSum + times * second.durationMsSum,
    billedCost: first.billedCost + times * second.billedCost,
    shownCost: first.shownCost + times * second.shownCost,
    unpriced: first.unpriced + times * second.unpriced,
    cacheLostTokens: first.cacheLostTokens + times * second.cacheLostTokens,
    cacheLostCost: first.cacheLostCost + times * second.cacheLostCost,
  };
}

/** Sums without those of some of their requests. */
export function subtractSums(all: readonly UsageSum[], some: readonly UsageSum[]): readonly UsageSum[] {
  const taken = new Map(some.map((sum) => [`${sum.atMs} ${sum.group}`, sum]));
  const left = all.map((sum) => {
    const less = taken.get(`${sum.atMs} ${sum.group}`);
    return less ? addSums(sum, less, -1) : sum;
  });
  return left.filter(({ requests }) => requests > 0);
}

function addTokens(first: LedgerTokens, second: LedgerTokens, times: 1 | -1): LedgerTokens {
  return {
    input: first.input + times * second.input,
    cacheRead: first.cacheRead + times * second.cacheRead,
    cacheWrite5m: first.cacheWrite5m + times * second.cacheWrite5m,
    cacheWrite1h: first.cacheWrite1h + times * second.cacheWrite1h,
    output: first.output + times * second.output,
  };
}
