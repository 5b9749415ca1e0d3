import { findHint } from '../shared/openai/cache-key.js';
import {
  allowedField,
  findEffort,
  findStrict,
  outputLimitField,
  parallelField,
  refusedField,
  samplingFields,
  userField,
} from '../shared/openai/openai-refused.js';
import { findLimit } from '../shared/max-tokens.js';
import { findSystem } from '../shared/system-in-user.js';
import { addedPart, type FindPart } from '../shared/losses/refused-part.js';

/** Words of Responses servers about parts of a translated request. */
export function responsesParts(asksForReasoning: boolean): readonly FindPart[] {
  return [
    findLimit,
    (said) =>
      asksForReasoning && /encrypted_content|encrypted content|\binclude\b/.test(said)
        ? addedPart('include')
        : undefined,
    findHint,
    ...[...samplingFields, allowedField, outputLimitField, parallelField, userField].map(refusedField),
    findStrict,
    findEffort,
    findSystem,
  ];
}
