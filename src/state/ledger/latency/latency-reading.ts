import type { UsageGroup, UsageQuery } from '../../../plugin/core.js';
import { groupColumnOf, type ColumnGroup } from '../groups.js';
import { hourlyGroup, bucketsOf } from '../usage-query.js';
import { hourlyPair } from '../hourly-pair.js';

/**
 * Groups whose times are counted by the hour. Keys and teams are left out: their latency depends on their models and
 * slots, and their counts would be as many as rows.
 */
export const latencyKinds = ['slot', 'model', 'format'] as const satisfies readonly ColumnGroup[];

export type LatencyKind = (typeof latencyKinds)[number];

/**
 * Source of the times of a query: the hourly counts of a kind, or of one name of it, except for those of some rows
 * (`except`), or the rows.
 */
export type LatencyReading =
  | {
      readonly from: 'counts';
      readonly kind: LatencyKind;
      readonly name?: string;
      readonly except?: UsageQuery;
    }
  | { readonly from: 'rows' };

/**
 * Reading of a query; undefined if there are no counts and the query's sums do not read the rows either, of which there
 * may be any number.
 */
export function latencyReading(query: UsageQuery, isHourly: boolean): LatencyReading | undefined {
  const { by } = query;
  if (by !== null && !isColumn(by)) return undefined;
  const answered = answeredOf(query);
  const all = answered && latencyReading(answered.all, isHourly);
  if (answered) return all?.from === 'counts' ? { ...all, except: answered.failed } : all;
  const hours = isHourly ? hourlyGroup(query) : undefined;
  if (!hours) return { from: 'rows' };
  const { kind, name } = hours;
  const counted = latencyKinds.find((each) => each === kind);
  return counted && { from: 'counts', kind: counted, ...(name !== undefined && { name }) };
}

function isColumn(by: UsageGroup): by is ColumnGroup {
  return Object.hasOwn(groupColumnOf, by);
}

/**
 * All requests of a query for the answered ones, and the failed ones among them; undefined for other queries. The
 * answer is their difference, as the hourly sums contain all, and failed ones are few.
 */
export function answeredOf(
  query: UsageQuery,
): { readonly all: UsageQuery; readonly failed: UsageQuery } | undefined {
  const { failed, ...where } = query.where ?? {};
  if (failed !== false || !bucketsOf(query).isHourly) return undefined;
  const all = { ...query, where };
  if (!hourlyGroup(all) && !hourlyPair(all)) return undefined;
  const { limit: _, ...unlimited } = query;
  return { all, failed: { ...unlimited, where: { ...where, failed: true } } };
}
