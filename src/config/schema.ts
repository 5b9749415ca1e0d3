import type { Static } from 'typebox';
import { Closed, Described } from '../kit/schema/type.js';
import { Type } from '../plugin/index.js';
import { sectionSchemas } from './sections/sections.js';
import { Price, SlotSchema } from './slots/slot-schema.js';
import { PipelinesSchema } from './pipelines/pipeline-schema.js';
import { FormatsSchema, PipelineSchema } from './stage-schema.js';

const Text = Type.String({ minLength: 1 });

const { listen, ...otherSections } = sectionSchemas;

/** Schema of `gateway.yaml`; `ruleErrors` has the rules that a schema cannot express. */
export const ConfigSchema = Closed({
  listen,
  pipeline: PipelineSchema,
  pipelines: PipelinesSchema,
  formats: FormatsSchema,
  slots: Type.Array(SlotSchema, { minItems: 1, description: 'One upstream account per slot.' }),
  models: Described(
    Type.Optional(Text),
    'The catalog, relative to this file. Default: the one shipped with gw2api.',
  ),
  ...otherSections,
  // Checked in depth by `gw2api test`, so that a test never keeps a gateway from starting.
  tests: Described(
    Type.Optional(Type.Array(Type.Unsafe<unknown>({ type: 'object' }))),
    `Tests of this config, in the form of *.test.yaml files; \`gw2api test\` runs them, and nothing else reads them.
      See testing.md.`,
  ),
});

/** Schema of `models.yaml`. */
export const CatalogSchema = Closed({
  models: Type.Array(
    Closed({
      id: Text,
      displayName: Type.Optional(Text),
      upstreamModel: Type.Optional(Text),
      maxTokens: Type.Integer({ minimum: 1, maximum: 128_000, default: 128_000 }),
      contextWindow: Type.Optional(Type.Integer({ minimum: 1 })),
      forcedToolChoice: Type.Boolean({ default: true }),
      sampling: Type.Unsafe<boolean | 'both' | 'one' | 'none'>({
        enum: [true, false, 'both', 'one', 'none'],
        default: 'one',
      }),
      thinking: Type.Enum(['adaptive', 'budget', 'none'], { default: 'adaptive' }),
      webSearch: Type.Boolean({ default: true }),
      aliases: Type.Array(Text, { default: [] }),
      created: Type.String({ default: '2026-01-01' }),
      price: Type.Optional(Price),
    }),
  ),
});

export type RawConfig = Static<typeof ConfigSchema>;
export type RawModel = Static<typeof CatalogSchema>['models'][number];
