import { findHint } from '../shared/openai/cache-key.js';
import {
  allowedField,
  findEffort,
  findGrammar,
  findStrict,
  parallelField,
  refusedField,
  samplingFields,
  stopField,
  userField,
} from '../shared/openai/openai-refused.js';
import { findLimit } from '../shared/max-tokens.js';
import { addedPart, entryValue, type FindPart } from '../shared/losses/refused-part.js';
import type { Capabilities } from './capabilities.js';

/** Words of Chat servers about parts of a translated request; each part but the sampling is a capability. */
export function chatParts({ maxTokensField, streamUsage, systemRole }: Capabilities): readonly FindPart[] {
  return [
    findLimit,
    (said) => {
      const other = maxTokensField === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
      return said.includes(`'${other}' instead`) || isUnknown(said, maxTokensField)
        ? addedPart('max_tokens_field')
        : undefined;
    },
    (said) => (streamUsage && isUnknown(said, 'stream_options') ? addedPart('stream_options') : undefined),
    (said, { without }) => {
      const role = entryValue(without, 'system') ?? systemRole;
      if (role === 'user' || !aboutRole.test(said)) return undefined;
      const isDeveloper = role === 'developer' && (said.includes(role) || !said.includes('system'));
      return addedPart(isDeveloper ? 'system=system' : 'system=user');
    },
    findHint,
    ...[...samplingFields, stopField, allowedField, parallelField, userField].map(refusedField),
    findGrammar,
    findStrict,
    findEffort,
  ];
}

const aboutRole =
  /(?:system|developer)['"`]? ?(?:role|messages?|prompts?|instructions?)?.{0,40}(?:not (?:supported|enabled|allowed)|unsupported)|does not support ['"`]?(?:system|developer)|role.{0,40}['"`](?:system|developer)['"`].{0,40}(?:support|permitted|expected|invalid)|\brole['"`)]{0,3}.{0,30}(?:input should be|unknown variant)/;

function isUnknown(said: string, field: string): boolean {
  return (
    new RegExp(`\\b${field}\\b`).test(said) &&
    /unknown|unrecogni[sz]ed|unexpected|unsupported|not supported|extra (?:inputs|fields)|not permitted/.test(
      said,
    )
  );
}
