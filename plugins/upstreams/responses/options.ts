import type { Static } from 'typebox';
import { Type } from '@gw2api/gateway/plugin';
import { keepAttribution } from '../shared/openai/attribution.js';
import { extraFieldsOption } from '../shared/losses/extra-fields.js';

/** Options of a slot of the kind `responses`. */
export const responsesOptions = Type.Object(
  {
    encryptedReasoning: Type.Boolean({
      default: true,
      description:
        'Asks for encrypted reasoning, which is sent back in later turns; models without reasoning may refuse this.',
    }),
    efforts: Type.Array(Type.String(), {
      default: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
      description: 'Efforts that the models accept; any other becomes the nearest lower one.',
    }),
    strictTools: Type.Boolean({ default: true, description: 'strict on functions and schemas.' }),
    promptCacheKey: Type.Boolean({
      default: true,
      description: 'Gets a prompt_cache_key for each session if the caller gives none.',
    }),
    files: Type.Boolean({ default: true, description: 'Documents (PDF) as input_file parts.' }),
    vendor: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "Name shared by the slots of one organization: encrypted reasoning may be sent back to any of them. Default: the slot's id.",
      }),
    ),
    keepAttribution,
    extraFields: extraFieldsOption,
    unsupported: Type.Enum(['report', 'reject'], {
      default: 'report',
      description: 'Handling of what Responses cannot express: named in x-gw-dropped, or refused with 400.',
    }),
  },
  { title: 'Responses API' },
);

export type ResponsesOptions = Static<typeof responsesOptions>;

/** Settings of a slot: its options, and the origin of its reasoning. */
export interface ResponsesSettings extends ResponsesOptions {
  readonly vendor: string;
  /** False: reasoning settings are not sent. */
  readonly reasoning?: boolean;
  /** False for a call of a model that never thinks. */
  readonly mayThink?: boolean;
  /** False: the answer's form is requested as text. */
  readonly takesSystem?: boolean;
  /** False: the form of the answer is requested as text. */
  readonly structuredOutput?: boolean;
  /** False: a choice names no list of allowed tools. */
  readonly allowedTools?: boolean;
}
