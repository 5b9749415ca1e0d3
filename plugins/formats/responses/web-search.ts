import { isRecord } from '../shared/body.js';
import type { BlockOf } from '@gw2api/gateway/plugin';

/** `action` of a web_search_call; `json` is the input of the upstream's tool call, possibly cut. */
export function searchAction(json: string, sources?: readonly object[]): object {
  const query = queryOf(json);
  return { type: 'search', query, queries: query === '' ? [] : [query], ...(sources ? { sources } : {}) };
}

/** The pages that a search has found; undefined where it failed or has no result. */
export function searchSources(
  result: BlockOf<'web_search_tool_result'> | undefined,
): readonly object[] | undefined {
  if (!Array.isArray(result?.content)) return undefined;
  const found: readonly unknown[] = result.content;
  return found.flatMap((page) =>
    typeof page === 'object' && page !== null && 'url' in page ? [{ type: 'url', url: page.url }] : [],
  );
}

function queryOf(json: string): string {
  try {
    const input: unknown = JSON.parse(json);
    if (isRecord(input) && typeof input['query'] === 'string') return input['query'];
  } catch {
    return ''; // incomplete, or cut by `max_tokens`
  }
  return '';
}
