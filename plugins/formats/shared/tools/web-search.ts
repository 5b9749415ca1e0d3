import type { Tool } from '@gw2api/gateway/plugin';
import type { Citation } from '@gw2api/gateway/plugin/format';
import { bodyCheck, isRecord, present } from '../body.js';
import { marked, markerOf } from '../cache-markers.js';
import type { UnsupportedFields } from '../unread/unsupported-fields.js';

/** Web search as Chat and Responses request it, at `path` in the body. */
export interface WebSearchParams {
  readonly path: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly maxUses?: number | null | undefined;
}

const checkMarked = bodyCheck(marked);

/** Upstream web_search tool with domains, location and max uses; other options are reported. */
export function webSearchTool({ path, options, maxUses }: WebSearchParams, dropped: UnsupportedFields): Tool {
  const { filters, user_location, search_context_size } = options;
  if (search_context_size && search_context_size !== 'medium') dropped.add(`${path}.search_context_size`);
  reportOthers(options, path, dropped);
  return {
    type: 'web_search_20250305',
    name: 'web_search',
    ...present({ max_uses: maxUses ?? undefined, user_location: placeOf(user_location) }),
    ...domainsOf(filters),
    ...markerOf(checkMarked(options, path)),
  };
}

const readOptions: ReadonlySet<string> = new Set([
  'filters',
  'user_location',
  'search_context_size',
  'type',
  'cache_control',
]);

/** Stops once the list is full, as a caller may send very many. */
function reportOthers(options: WebSearchParams['options'], path: string, dropped: UnsupportedFields): void {
  for (const name in options) {
    if (dropped.isFull) return;
    const value = options[name];
    if (!readOptions.has(name) && value !== null && value !== undefined) dropped.add(`${path}.${name}`);
  }
}

function domainsOf(filters: unknown): object {
  if (!isRecord(filters)) return {};
  const { allowed_domains, blocked_domains } = filters;
  const lists = Object.entries({ allowed_domains, blocked_domains });
  return Object.fromEntries(lists.filter(([, list]) => Array.isArray(list) && list.length > 0));
}

/** Chat nests the place under `approximate`; absent parts must be left out, not null. */
function placeOf(location: unknown): object | undefined {
  if (!isRecord(location)) return undefined;
  const place = isRecord(location['approximate']) ? location['approximate'] : location;
  const known = ['city', 'country', 'region', 'timezone'].filter((name) => typeof place[name] === 'string');
  if (known.length === 0) return undefined;
  return { type: 'approximate', ...Object.fromEntries(known.map((name) => [name, place[name]])) };
}

/** Citation of a page, with the range of the answer's text that it supports, in UTF-16 units. */
export interface UrlCitation {
  readonly url: string;
  readonly title: string;
  readonly start_index: number;
  readonly end_index: number;
}

/** Citations with a URL of one text block; Messages cites whole blocks, so all share the block's range. */
export function urlCitations(
  citations: readonly Citation[],
  startIndex: number,
  endIndex: number,
): readonly UrlCitation[] {
  return citations.flatMap(({ url, title }) =>
    typeof url === 'string'
      ? [{ url, title: title ?? url, start_index: startIndex, end_index: endIndex }]
      : [],
  );
}
