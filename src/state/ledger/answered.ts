import type { UsageQuery } from '../../plugin/core.js';
import { hourlyPair } from './hourly-pair.js';
import { bucketsOf, hourlyGroup } from './usage.js';

/**
 * All requests of a query for the answered ones, and the failed ones among them; undefined for other queries. The
 * hourly sums know all, the failed ones are few, and their difference is the answer.
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
