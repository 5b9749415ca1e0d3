import { fromInputTime, toInputTime } from '../../../console/web/format/times.js';
import type { Option } from '../../../console/web/ui/input/select.js';

/** Query parameters that filter the log; those of the API have the same names. */
export const filterNames = ['actor', 'action', 'target', 'outcome', 'from', 'to'] as const;

export type FilterName = (typeof filterNames)[number];
export type Filters = Readonly<Partial<Record<FilterName, string>>>;

export const actionOptions: readonly Option<string>[] = [
  { value: 'key.*', text: 'Keys' },
  { value: 'team.*', text: 'Teams' },
  { value: 'slot.*', text: 'Slots' },
  { value: 'config.*', text: 'Reloads' },
  { value: 'canary.*', text: 'Canaries' },
  { value: 'token.*', text: 'Admin tokens' },
  { value: 'session.*', text: 'Logins and logouts' },
  { value: 'request.*', text: 'Explained requests' },
  { value: 'playground.*', text: 'Playground' },
  { value: 'recording.*', text: 'Recordings' },
  { value: 'stage.*', text: 'Routes of stages' },
];

export const outcomeOptions: readonly Option<string>[] = [
  { value: '', text: 'Any outcome' },
  { value: 'done', text: 'Done' },
  { value: 'refused', text: 'Refused' },
  { value: 'failed', text: 'Failed' },
];

export function filtersOf(query: URLSearchParams): Filters {
  const given = filterNames.flatMap((name) => {
    const value = query.get(name);
    return value ? [[name, value] as const] : [];
  });
  return Object.fromEntries(given);
}

/** Time of a filter in the format of a browser input, in its time zone. */
export function inputTime(value: string | undefined): string {
  return toInputTime(value !== undefined && !Number.isNaN(Date.parse(value)) ? value : null);
}

/** Filter of an input's time. */
export function timeFilter(input: string): string {
  return fromInputTime(input) ?? '';
}
