import { limitFields, limitNames } from '../../../plugin/core.js';
import type { KeyLimits } from '../../../plugin/index.js';
import type { LimitRecord } from './tables/tables.js';

export function toLimitRecord(limits: KeyLimits): LimitRecord {
  const columns = limitNames.map((name) => [limitFields[name], limits[name] ?? null] as const);
  return Object.fromEntries(columns) as unknown as LimitRecord; // a column of each limit
}

export function fromLimitRecord(record: LimitRecord): KeyLimits {
  const limits = limitNames.map((name) => [name, record[limitFields[name]]] as const);
  return Object.fromEntries(limits.filter(([, value]) => value !== null));
}
