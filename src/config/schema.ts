import type { Static, TSchema } from 'typebox';
import { Duration, Type, type Operation, type WireFormat } from '../plugin/index.js';

export const formats = ['messages', 'chat', 'responses', 'completions'] as const satisfies WireFormat[];
export const operations = [
  'generate',
  'count-tokens',
  'models',
  'usage',
  'stored-response',
  'other',
] as const satisfies Operation[];

/** A list; a single string counts as a list of one. */
function OneOrMore<Item extends string>(item: TSchema) {
  return Type.Unsafe<Item | readonly Item[]>({
    type: ['string', 'array'],
    items: item,
    minItems: 1,
    if: { type: 'array' },
    else: item,
  });
}

function Closed<Properties extends Record<string, TSchema>>(properties: Properties, options: object = {}) {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

const Text = Type.String({ minLength: 1 });
const Globs = OneOrMore<string>(Text);

const When = Closed({
  format: Type.Optional(OneOrMore<WireFormat>(Type.Enum(formats))),
  model: Type.Optional(Globs),
  operation: Type.Optional(OneOrMore<Operation>(Type.Enum(operations))),
  caller: Type.Optional(Globs),
});

const Stage = Closed({
  use: Text,
  enabled: Type.Boolean({ default: true }),
  with: Type.Unsafe<Record<string, unknown>>({ type: 'object', default: {} }),
  when: Type.Optional(When),
});

const ApiKeyAccount = Closed({
  kind: Type.Literal('api-key'),
  key: Text,
  header: Type.Enum(['x-api-key', 'authorization'], { default: 'x-api-key' }),
});

const OAuthAccount = Closed({
  kind: Type.Literal('oauth'),
  accessToken: Text,
  refreshToken: Text,
  tokenUrl: Text,
  clientId: Text,
  clientSecret: Type.Optional(Text),
  expiresAt: Type.Optional(Type.Unsafe<string | number>({ type: ['string', 'number'] })),
});

const NoAccount = Closed({ kind: Type.Literal('none') });

const Account = Type.Unsafe<
  Static<typeof NoAccount> | Static<typeof ApiKeyAccount> | Static<typeof OAuthAccount>
>({
  type: 'object',
  required: ['kind'],
  discriminator: { propertyName: 'kind' },
  oneOf: [NoAccount, ApiKeyAccount, OAuthAccount],
});

/** Schema of an entry under `slots:`. */
export const SlotSchema = Closed({
  id: Text,
  upstream: Text,
  baseUrl: Type.Optional(Text),
  account: Type.Optional(Account),
  models: Type.Unsafe<string | readonly string[]>({ ...Globs, default: ['*'] }),
  maxConcurrent: Type.Integer({ minimum: 1, default: 32 }),
  weight: Type.Number({ exclusiveMinimum: 0, default: 1 }),
  proxy: Type.Optional(Text),
  headers: Type.Record(Type.String(), Type.String(), { default: {} }),
  connectTimeout: Duration({ default: '10s' }),
});

const Listen = Closed(
  {
    host: Type.String({ minLength: 1, default: '0.0.0.0' }),
    port: Type.Integer({ minimum: 0, maximum: 65_535, default: 8787 }),
    workers: Type.Unsafe<number | 'auto'>({ type: ['integer', 'string'], minimum: 1, default: 1 }),
    trustProxy: Type.Boolean({ default: false }),
    drainDelay: Duration({ default: '0s' }),
    shutdownTimeout: Duration({ default: '30s' }),
    headersTimeout: Duration({ default: '30s' }),
    bodyIdleTimeout: Duration({ default: '30s' }),
    maxConnections: Type.Integer({ minimum: 1, default: 8192 }),
    backlog: Type.Integer({ minimum: 1, maximum: 65_535, default: 4096 }),
  },
  { default: {} },
);

/** Schema of `gateway.yaml` (design §5); `ruleProblems` has the rules that a schema cannot express. */
export const ConfigSchema = Closed({
  listen: Listen,
  pipeline: Type.Array(Stage, { minItems: 1 }),
  slots: Type.Array(SlotSchema, { minItems: 1 }),
  models: Type.Optional(Text),
  store: Type.String({ default: 'sqlite:./data/gateway.db' }),
  ledger: Closed(
    {
      keepDays: Type.Integer({ minimum: 1, default: 90 }),
      spool: Type.Optional(Text),
    },
    { default: {} },
  ),
  live: Type.String({ default: 'memory' }),
  console: Closed({ allowLinkLocal: Type.Boolean({ default: false }) }, { default: {} }),
  officialClient: Closed({ userAgent: Type.String({ default: '' }) }, { default: {} }),
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
        default: true,
      }),
      thinking: Type.Enum(['adaptive', 'budget', 'none'], { default: 'adaptive' }),
      webSearch: Type.Boolean({ default: true }),
      aliases: Type.Array(Text, { default: [] }),
      created: Type.String({ default: '2026-01-01' }),
    }),
  ),
});

export type RawConfig = Static<typeof ConfigSchema>;
export type RawSlot = Static<typeof SlotSchema>;
export type RawStage = Static<typeof Stage>;
export type RawModel = Static<typeof CatalogSchema>['models'][number];
