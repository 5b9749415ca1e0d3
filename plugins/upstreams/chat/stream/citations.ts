import type { Citation } from '@gw2api/gateway/plugin/upstream';
import { fieldsOf, listOf } from '../../shared/fields.js';
import { pageCitation } from '../../shared/page-citation.js';

/** Pages that `annotations` cite. */
export function citationsIn(annotations: unknown): readonly Citation[] {
  return listOf(annotations).flatMap((annotation) =>
    pageCitation(fieldsOf(fieldsOf(annotation)['url_citation'])),
  );
}
