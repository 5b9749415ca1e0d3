import { usePlace, withQuery, type Place } from '../state/location.js';
import { createStore } from '../state/store.js';
import { useEffect } from 'preact/hooks';
import { filterNames, readFilters, type Filters } from './filters.js';
import { readRange, writeRange, type PresetName, type Range } from './range.js';

/** Range and filters of a page, from its URL. */
export interface Scope {
  readonly range: Range;
  readonly filters: Filters;
}

/** The pages that share their scope, with the default range of each. */
const defaults: Readonly<Record<string, PresetName | 'all'>> = { '/': '24h', '/requests': 'all' };

/** Query of the last page with a scope, for the link back from a single request. */
const lastQuery = createStore('');

export function useScope(): Scope {
  const { path, query } = usePlace();
  const text = query.toString();
  useEffect(() => lastQuery.set(text), [text]);
  return scopeOf(path, query);
}

/**
 * Path of a page with the scope of the current one, if both have one. `changes` are further filters; a link to the
 * current page resets it.
 */
export function withScope(to: string, { path, query }: Place, changes: Filters = {}): string {
  const isOpened = path.startsWith('/requests/');
  if (!(to in defaults) || (to === path && Object.keys(changes).length === 0)) return to;
  if (!(path in defaults) && !isOpened) return withQuery(to, new URLSearchParams(), changes);
  const from = isOpened ? '/requests' : path;
  const { range, filters } = scopeOf(from, isOpened ? new URLSearchParams(lastQuery.get()) : query);
  const isDefault = range.name === defaults[to] || (range.name === 'all' && defaults[to] !== 'all');
  return withQuery(to, new URLSearchParams(), {
    ...(!isDefault && writeRange(range)),
    ...filters,
    ...changes,
  });
}

function scopeOf(path: string, query: URLSearchParams): Scope {
  return { range: readRange(query, defaults[path] ?? '24h'), filters: readFilters(query) };
}

/** True if any filter is set. */
export function isFiltered(filters: Filters): boolean {
  return filterNames.some((name) => filters[name] !== undefined);
}
