import type { LedgerRequest } from '../api/ledger.js';
import { formatWords } from '../format/words.js';
import type { Option } from '../ui/input/select.js';

/** Query parameters that choose among requests; those of the API have the same names. */
export const filterNames = [
  'key',
  'slot',
  'model',
  'format',
  'failed',
  'team',
  'pipeline',
  'parent',
  'label',
  'status',
  'code',
  'session',
  'cause',
  'request_id',
] as const;

export type FilterName = (typeof filterNames)[number];
export type Filters = Readonly<Partial<Record<FilterName, string>>>;

/** Names for the label of a field, and for the value of a filter. */
export const filterWords: Readonly<Record<FilterName, string>> = {
  key: 'Key',
  slot: 'Slot',
  model: 'Model',
  format: 'Format',
  failed: 'Outcome',
  team: 'Team',
  pipeline: 'Pipeline',
  parent: 'Calls for request',
  label: 'Call of a stage',
  status: 'Status',
  code: 'Error code',
  session: 'Session',
  cause: 'Cache loss',
  request_id: 'Request id',
};

export const formatOptions: readonly Option<string>[] = [
  { value: '', text: 'Any format' },
  ...Object.entries(formatWords).map(([value, text]) => ({ value, text })),
];

export const outcomeOptions: readonly Option<string>[] = [
  { value: '', text: 'Any outcome' },
  { value: 'false', text: 'Answered' },
  { value: 'true', text: 'Failed' },
];

export const causeOptions: readonly Option<string>[] = [
  { value: '', text: 'Any, or none' },
  { value: 'client_changed', text: 'Client changed its prompt' },
  { value: 'stage_changed', text: 'Stage changed the prompt' },
  { value: 'slot_moved', text: 'Session moved to another slot' },
  { value: 'expired', text: 'Cache expired' },
  { value: 'model_changed', text: 'Another model' },
  { value: 'provider', text: 'Provider' },
  { value: 'unknown', text: 'Unknown' },
];

export function readFilters(query: URLSearchParams): Filters {
  const given = filterNames.flatMap((name) => {
    const value = query.get(name);
    return value ? [[name, value] as const] : [];
  });
  return Object.fromEntries(given);
}

/** Query changes that remove all filters. */
export const noFilters: Readonly<Record<string, null>> = Object.fromEntries(
  filterNames.map((name) => [name, null]),
);

/**
 * True if a request matches the filters that a listed request can be checked by: applied to loaded rows after a change
 * of the filters.
 */
export function isAmong(filters: Filters, row: LedgerRequest): boolean {
  const given: Readonly<Partial<Record<FilterName, unknown>>> = {
    ...row,
    key: row.key?.id,
    cause: row.cache?.cause,
  };
  return Object.entries(filters).every(([name, value]) => String(given[name as FilterName]) === value); // names of `Filters`
}
