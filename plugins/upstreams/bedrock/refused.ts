import { findFlagged } from '../shared/messages/beta-fields.js';
import { addedToolAt, messagesParts } from '../shared/messages/messages-refused.js';
import { hasOwnMarker } from '../shared/messages/own-markers.js';
import { addedPart, type FindPart } from '../shared/losses/refused-part.js';
import type { SchemaOptions } from '../shared/messages/schema-options.js';
import { flagsOf, sortBetas } from './betas.js';

/**
 * Words of Bedrock about parts of a request; the rest comes from other vendors' words. `known`: flags that it takes.
 */
export function bedrockParts(
  known: ReadonlySet<string>,
  features: Partial<SchemaOptions>,
): readonly FindPart[] {
  return [
    ...messagesParts(features),
    findFlagged(({ headers }) => flagsOf(sortBetas(headers['anthropic-beta'], known))),
    (said, call) => {
      if (!said.includes('the provided request is not valid')) return undefined;
      if (addedToolAt(call) >= 0 && !call.without?.has('web_search')) return addedPart('web_search');
      return hasOwnMarker(call, 'ttl') ? addedPart('cache_control.ttl') : undefined;
    },
  ];
}
