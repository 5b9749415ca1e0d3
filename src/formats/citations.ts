import type { Citation } from '../plugin/index.js';

/** A cited page, and the place in the answer's text that rests on it, in UTF-16 units. */
export interface UrlCitation {
  readonly url: string;
  readonly title: string;
  readonly start_index: number;
  readonly end_index: number;
}

/** The citations of one text block that have a URL; Messages cites whole blocks, so all share the block's place. */
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
