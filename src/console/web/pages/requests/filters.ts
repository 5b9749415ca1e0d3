import type { Query } from '../../api/call.js';
import type { LedgerRequest } from '../../api/types.js';
import { formatWords } from '../../format/words.js';
import type { Option } from '../../ui/select.js';

/** Query parameters that filter the list; those of the API have the same names. */
export const filterNames = [
  'key',
  'slot',
  'model',
  'format',
  'failed',
  'code',
  'status',
  'request_id',
] as const;

export type FilterName = (typeof filterNames)[number];
export type Filters = Readonly<Partial<Record<FilterName, string>>>;

export const formatOptions: readonly Option<string>[] = [
  { value: '', text: 'Any format' },
  ...Object.entries(formatWords).map(([value, text]) => ({ value, text })),
];

export const outcomeOptions: readonly Option<string>[] = [
  { value: '', text: 'Any outcome' },
  { value: 'false', text: 'Answered' },
  { value: 'true', text: 'Failed' },
];

export function filtersOf(query: URLSearchParams): Filters {
  const given = filterNames.flatMap((name) => {
    const value = query.get(name);
    return value ? [[name, value] as const] : [];
  });
  return Object.fromEntries(given);
}

export function toQuery(filters: Filters, more: Query = {}): Query {
  return { ...filters, ...more };
}

/** True if a request matches all filters, by the rules of the API. */
export function isAmong(filters: Filters, row: LedgerRequest): boolean {
  const given: Readonly<Record<FilterName, unknown>> = { ...row, key: row.key?.id };
  return filterNames.every((name) => filters[name] === undefined || filters[name] === String(given[name]));
}
