import { limitNames, type KeyLimits } from '../../plugin/internal.js';
import type { LimitRecord } from './tables.js';

/** Column of each limit. */
const columnOf = {
  requestsPerMinute: 'requests_per_minute',
  tokensPerMinute: 'tokens_per_minute',
  tokensPerDay: 'tokens_per_day',
  tokensPerMonth: 'tokens_per_month',
  usdPerDay: 'usd_per_day',
  usdPerMonth: 'usd_per_month',
  maxConcurrent: 'max_concurrent',
} as const satisfies Readonly<Record<keyof KeyLimits, keyof LimitRecord>>;

export function toLimitRecord(limits: KeyLimits): LimitRecord {
  const columns = limitNames.map((name) => [columnOf[name], limits[name] ?? null] as const);
  return Object.fromEntries(columns) as unknown as LimitRecord; // a column of each limit
}

export function fromLimitRecord(record: LimitRecord): KeyLimits {
  const limits = limitNames.map((name) => [name, record[columnOf[name]]] as const);
  return Object.fromEntries(limits.filter(([, value]) => value !== null));
}
