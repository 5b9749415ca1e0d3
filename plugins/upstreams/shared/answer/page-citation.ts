import type { Citation } from '@gw2api/gateway/plugin/upstream';
import { textOf, type Fields } from '../fields.js';

/** Page that an answer cites, in the form of a Messages search result; none without an address. */
export function pageCitation({ url, title, content }: Fields): readonly Citation[] {
  if (typeof url !== 'string' || url === '') return [];
  return [
    {
      type: 'web_search_result_location',
      url,
      title: textOf(title) || url,
      cited_text: textOf(content),
      encrypted_index: '',
    },
  ];
}
