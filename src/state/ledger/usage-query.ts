import type { LedgerFilter, UsageGroup, UsageQuery, UsageSum } from '../../plugin/core.js';
import type { LedgerRow } from './contract.js';
import { groupOfField } from './groups.js';
import { addSums } from './sums.js';
import { hourMs } from '../../kit/time/clock.js';

/** Unix milliseconds, cut down to the whole hour. */
export function hourOf(ms: number): number {
  return Math.floor(ms / hourMs) * hourMs;
}

/** The range of a usage query in whole milliseconds, widened to whole hours if its buckets are. */
export function bucketsOf({ fromMs, toMs, stepMs }: Omit<UsageQuery, 'by'>): Omit<UsageQuery, 'by'> & {
  readonly isHourly: boolean;
} {
  const step = Math.max(1, Math.floor(stepMs));
  const isHourly = step % hourMs === 0;
  if (!isHourly) return { fromMs: Math.floor(fromMs), toMs: Math.ceil(toMs), stepMs: step, isHourly };
  return { fromMs: hourOf(fromMs), toMs: hourOf(Math.ceil(toMs) + hourMs - 1), stepMs: step, isHourly };
}

/** Conditions of a usage query, those of its key included. */
export function conditionsOf({ keyId, where }: Pick<UsageQuery, 'keyId' | 'where'>): LedgerFilter {
  return { ...where, ...(keyId !== undefined && { keyId }) };
}

/** Group whose hourly sums answer a query; undefined if its rows have to be counted. */
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

/** Groups of a row by its tags: their names, or the value of the requested tag. */
export function tagGroups({ tags = {} }: LedgerRow, tag: string | undefined): readonly string[] {
  if (tag === undefined) return Object.keys(tags);
  return Object.hasOwn(tags, tag) ? [tags[tag] ?? ''] : [];
}

/** Sums less those of some of their requests. */
export function subtractSums(all: readonly UsageSum[], some: readonly UsageSum[]): readonly UsageSum[] {
  const taken = new Map(some.map((sum) => [`${sum.atMs} ${sum.group}`, sum]));
  const left = all.map((sum) => {
    const less = taken.get(`${sum.atMs} ${sum.group}`);
    return less ? addSums(sum, less, -1) : sum;
  });
  return left.filter(({ requests }) => requests > 0);
}
