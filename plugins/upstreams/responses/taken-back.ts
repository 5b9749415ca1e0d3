import type { CallTerms } from '../shared/call-terms.js';
import type { Dropped } from '../shared/losses/dropped.js';
import { takenEfforts } from '../shared/effort.js';
import { entryValue } from '../shared/losses/refused-part.js';
import type { ResponsesSettings } from './options.js';

/** Settings of a slot for one call: without those that it has refused, and those that the model does not have. */
export function settingsFor(settings: ResponsesSettings, { without, profile }: CallTerms): ResponsesSettings {
  const efforts = entryValue(without, 'effort');
  const reasoning = profile?.thinking !== 'none' && efforts !== '';
  if (!without && reasoning) return settings;
  return {
    ...settings,
    reasoning,
    mayThink: profile?.thinking !== 'none',
    ...(efforts && { efforts: takenEfforts(settings.efforts, efforts) }),
    ...((!reasoning || without?.has('include')) && { encryptedReasoning: false }),
    ...(without?.has('allowed_tools') && { allowedTools: false }),
    ...(without?.has('strict') && { strictTools: false }),
    ...(without?.has('output_format') && { structuredOutput: false }),
    ...(without?.has('system') && { takesSystem: false }),
  };
}

/** Fields of a body by their entries of `without`, with the caller's paths in the Messages request. */
const fields: readonly (readonly [entry: string, field: string, path?: string])[] = [
  ['max_output_tokens', 'max_output_tokens', 'max_tokens'],
  ['user', 'safety_identifier', 'metadata.user_id'],
  ['parallel_tool_calls', 'parallel_tool_calls', 'tool_choice.disable_parallel_tool_use'],
];

/** Body without the fields that the server has refused; those that the caller has set are reported. */
export function withoutFields<Body extends object>(
  body: Body,
  { addedLimit, without }: CallTerms,
  dropped: Dropped,
): Body {
  const refused = without ? fields.filter(([entry, field]) => without.has(entry) && field in body) : [];
  if (refused.length === 0) return body;
  for (const [, , path] of refused)
    if (path !== undefined && !(path === 'max_tokens' && addedLimit)) dropped.add(path);
  const kept = Object.entries(body).filter(([name]) => !refused.some(([, field]) => field === name));
  return Object.fromEntries(kept) as Body; // only optional fields are left out
}
