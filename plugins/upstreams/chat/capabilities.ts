import type { Static } from 'typebox';
import { Type } from '@gw2api/gateway/plugin';
import { keepAttribution } from '../shared/openai/attribution.js';
import { extraFieldsOption, withExtraFields, type ExtraPaths } from '../shared/losses/extra-fields.js';
import { extraPathsOf } from './extra-fields.js';
import { presetNames, presets } from './presets.js';
import { capabilityFields, type ServerCapabilities } from './server-capabilities.js';

/** Options of a slot of the kind `chat`. */
export const chatOptions = Type.Object({
  preset: Type.Enum(presetNames, {
    default: 'generic',
    description: 'Known server whose capabilities are the defaults of the options below.',
  }),
  ...Type.Partial(Type.Object(capabilityFields)).properties,
  maxTokens: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Largest limit on output tokens that the server accepts; larger ones are lowered.',
    }),
  ),
  keepAttribution,
  extraFields: extraFieldsOption,
  unsupported: Type.Enum(['report', 'reject'], {
    default: 'report',
    description:
      'Handling of what Chat Completions cannot express: named in x-gw-dropped, or refused with 400.',
  }),
});

export type ChatOptions = Static<typeof chatOptions>;

/** Capabilities of a slot. */
export interface Capabilities extends ServerCapabilities {
  /** Origin of its thinking, the preset or the slot itself; signed thinking is sent back only there. */
  readonly vendor: string;
  /** Extras that it is sent. */
  readonly extraPaths: ExtraPaths;
  readonly maxTokens?: number | undefined;
  /** False for a call of a model that never thinks. */
  readonly mayThink?: boolean;
  readonly keepAttribution?: boolean;
  readonly unsupported: 'report' | 'reject';
}

/** Capabilities of a slot: those of its preset, each replaced by the option of its name. */
export function capabilitiesOf({ preset, extraFields, ...options }: ChatOptions, slot: string): Capabilities {
  const vendor = preset === 'generic' ? slot : preset;
  const server = { ...presets[preset], ...options };
  const hints = server.promptCacheKey ? ['prompt_cache_key'] : [];
  const extraPaths = withExtraFields(extraPathsOf(preset), [...hints, ...(extraFields ?? [])]);
  return { ...server, vendor, extraPaths };
}
