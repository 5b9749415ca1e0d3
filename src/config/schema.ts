import type { Static } from 'typebox';
import { sectionSchemas } from './sections/sections.js';
import { Closed } from '../kit/schema/closed.js';
import { Duration, TlsFiles, Type, type Operation } from '../plugin/index.js';
import { Percentage } from '../kit/schema/units.js';

export const operations = [
  'generate',
  'count-tokens',
  'models',
  'usage',
  'route',
  'other',
] as const satisfies Operation[];

const Text = Type.String({ minLength: 1 });

/** A list; a single string counts as a list of one. */
const Texts = Type.Unsafe<string | readonly string[]>({
  type: ['string', 'array'],
  minLength: 1,
  items: Text,
  minItems: 1,
});

const Operations = Type.Unsafe<Operation | readonly Operation[]>({
  type: ['string', 'array'],
  items: Type.Enum(operations),
  minItems: 1,
  if: { type: 'array' },
  else: Type.Enum(operations),
});

const conditions = {
  format: Type.Optional(Texts),
  model: Type.Optional(Texts),
  operation: Type.Optional(Operations),
  caller: Type.Optional(Texts),
  header: Type.Optional(Type.Record(Type.String(), Texts, { minProperties: 1 })),
  stream: Type.Optional(Type.Boolean()),
  sample: Type.Optional(Percentage()),
};

const When = Closed({ ...conditions, not: Type.Optional(Closed(conditions, { minProperties: 1 })) });

/** Schema of an entry under `pipeline:` that is a stage. */
export const StageSchema = Closed({
  use: Text,
  name: Type.Optional(Type.String({ pattern: String.raw`^[\w.:-]{1,64}$` })),
  enabled: Type.Boolean({ default: true }),
  with: Type.Unsafe<Record<string, unknown>>({ type: 'object', default: {} }),
  when: Type.Optional(When),
  timeout: Type.Optional(Duration()),
  onError: Type.Optional(Type.Enum(['fail', 'skip'])),
});

/** A stage, or alternatives and nothing else, which is a rule of `stageErrors`. */
const Entry = Type.Unsafe<
  Static<typeof StageSchema> | { readonly oneOf: readonly Static<typeof StageSchema>[] }
>({
  type: 'object',
  properties: { ...StageSchema.properties, oneOf: Type.Array(StageSchema, { minItems: 1 }) },
  additionalProperties: false,
  if: { type: 'object', required: ['oneOf'] },
  else: { required: ['use'] },
});

/** Schema of an entry under `formats:` that is more than a name. */
export const NamedFormat = Closed({
  use: Text,
  with: Type.Unsafe<Record<string, unknown>>({ type: 'object', default: {} }),
});

const FormatEntry = Type.Unsafe<string | Static<typeof NamedFormat>>({
  type: ['string', 'object'],
  minLength: 1,
  if: { type: 'object' },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: NamedFormat,
});

/** Globs over catalog ids, or a map from those to the upstream's names; true: the name of the catalog. */
const Served = Type.Unsafe<string | readonly string[] | Readonly<Record<string, string | true>>>({
  ...Texts,
  type: ['string', 'array', 'object'],
  minProperties: 1,
  additionalProperties: { type: ['string', 'boolean'], minLength: 1 },
  default: ['*'],
});

/** The kind is a built-in name, a path or a package; the other keys are checked against its own schema. */
const Account = Type.Unsafe<{ readonly kind: string } & Readonly<Record<string, unknown>>>({
  type: 'object',
  required: ['kind'],
  properties: { kind: Text },
});

/** Exponential backoff of one cause of cooldowns. */
function Backoff(first: string, max: string) {
  return Closed({ first: Duration({ default: first }), max: Duration({ default: max }) }, { default: {} });
}

/** Cooldowns of a slot, by cause, and the time after which it is asked again whatever its upstream says. */
const Cooldown = Closed(
  {
    rateLimited: Backoff('30s', '10m'),
    overloaded: Backoff('5s', '2m'),
    unreachable: Backoff('2s', '1m'),
    max: Duration({ default: '15m' }),
  },
  { default: {} },
);

/** USD per million tokens. */
const Usd = Type.Number({ minimum: 0, maximum: 100_000 });

const Price = Closed({
  input: Usd,
  output: Usd,
  cacheRead: Type.Optional(Usd),
  cacheWrite5m: Type.Optional(Usd),
  cacheWrite1h: Type.Optional(Usd),
});

/** One price for all models, or prices by catalog id; `*` is for all other models. */
const SlotPrice = Type.Unsafe<Static<typeof Price> | Readonly<Record<string, Static<typeof Price>>>>({
  type: 'object',
  minProperties: 1,
  if: { type: 'object', anyOf: Object.keys(Price.properties).map((sort) => ({ required: [sort] })) },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: Price,
  else: { additionalProperties: Price },
});

/** Schema of an entry under `slots:`. */
export const SlotSchema = Closed({
  id: Text,
  upstream: Text,
  with: Type.Unsafe<Record<string, unknown>>({ type: 'object', default: {} }),
  baseUrl: Type.Optional(Text),
  account: Type.Optional(Account),
  organization: Type.Optional(Text),
  models: Served,
  filter: Type.Optional(Texts),
  maxConcurrent: Type.Integer({ minimum: 1, default: 32 }),
  weight: Type.Number({ exclusiveMinimum: 0, default: 1 }),
  price: Type.Optional(SlotPrice),
  discount: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  proxy: Type.Optional(Text),
  tls: Type.Optional(TlsFiles),
  headers: Type.Record(Type.String(), Type.String(), { default: {} }),
  connectTimeout: Duration({ default: '10s' }),
  cooldown: Cooldown,
});

const { listen, ...otherSections } = sectionSchemas;

/** Schema of `gateway.yaml` (design §5); `ruleProblems` has the rules that a schema cannot express. */
export const ConfigSchema = Closed({
  listen,
  pipeline: Type.Array(Entry, { minItems: 1 }),
  formats: Type.Array(FormatEntry, {
    minItems: 1,
    default: ['messages', 'chat', 'responses', 'completions'],
  }),
  slots: Type.Array(SlotSchema, { minItems: 1 }),
  models: Type.Optional(Text),
  ...otherSections,
  /** Checked in depth by `gw2api test`, so that a test never keeps a gateway from starting. */
  tests: Type.Optional(Type.Array(Type.Unsafe<unknown>({ type: 'object' }))),
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
export type RawSlot = Static<typeof SlotSchema>;
export type RawStage = Static<typeof StageSchema>;
export type RawModel = Static<typeof CatalogSchema>['models'][number];
