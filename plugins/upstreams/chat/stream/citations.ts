import type { Citation } from 'gw2api/plugin/upstream';
import { fieldsOf, listOf, textOf } from '../../shared/fields.js';

/** Pages that `annotations` cite, as a search result is cited in Messages. */
export function citationsIn(annotations: unknown): readonly Citation[] {
  return listOf(annotations).flatMap((annotation) => {
    const { url, title, content } = fieldsOf(fieldsOf(annotation)['url_citation']);
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
  });
}
