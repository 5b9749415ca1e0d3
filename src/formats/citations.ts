import type { Citation } from '../plugin/index.js';

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
