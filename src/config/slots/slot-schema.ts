import type { Static } from 'typebox';
import { Closed } from '../../kit/schema/type.js';
import { TlsFiles, Type } from '../../plugin/index.js';
import { schemaOnly, duration, group, schemasOf, setting, type Settled } from '../sections/section.js';
import { Integrity, Texts } from '../stage-schema.js';

const Text = Type.String({ minLength: 1 });

/** Globs over catalog ids, or a map from those to the upstream's names; true: the name of the catalog. */
const Served = Type.Unsafe<string | readonly string[] | Readonly<Record<string, string | true>>>({
  ...Texts,
  type: ['string', 'array', 'object'],
  minProperties: 1,
  additionalProperties: { type: ['string', 'boolean'], minLength: 1 },
  default: ['*'],
});

/** Account whose kind is a built-in name, a path or a package; its own schema checks the other keys. */
const Account = Type.Unsafe<
  { readonly kind: string; readonly integrity?: string } & Readonly<Record<string, unknown>>
>({
  type: 'object',
  required: ['kind'],
  properties: { kind: Text, integrity: Integrity },
});

/** Exponential backoff of one cause of cooldowns: starts at `first` and doubles each time, up to `max`. */
function backoff(first: string, max: string, words: string) {
  return group(
    { first: duration(first, 'After the first failure.'), max: duration(max, 'The longest one.') },
    words,
  );
}

/** USD per million tokens. */
const Usd = Type.Number({ minimum: 0, maximum: 100_000 });

/** Schema of prices. */
export const Price = Closed({
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

/** Settings of an entry under `slots:`. */
export const slotSettings = {
  id: schemaOnly(Text, 'Its name in logs, metrics, response headers and the console.'),
  upstream: schemaOnly(
    Text,
    'messages | bedrock | vertex | chat | responses | simulator | ./mine.js | an npm package',
  ),
  integrity: schemaOnly(
    Type.Optional(Integrity),
    `Hash of the files of the upstream's package, as \`gw2api plugins\` prints it; with other files it is not loaded.
      An account has its own, beside \`kind\`. Default: any.`,
  ),
  with: schemaOnly(
    Type.Unsafe<Record<string, unknown>>({ type: 'object', default: {} }),
    'Options of the upstream.',
  ),
  baseUrl: schemaOnly(
    Type.Optional(Text),
    `Without the path that every call adds (messages: /v1/messages). Not needed by kinds that derive it from
      their options.`,
  ),
  account: schemaOnly(
    Type.Optional(Account),
    `api-key | bearer | aws-sigv4 | google | azure-entra | oauth | none | ./mine.js | an npm package, with the keys
      of that kind.`,
  ),
  organization: setting(
    Type.Optional(Text),
    `Organization of the account at its provider, to which signed thinking is bound: sessions stay with the slots
      of one. Default: one for each kind of upstream and base URL.`,
  ),
  models: schemaOnly(
    Served,
    `Catalog ids that it serves; * also admits models that the catalog lacks. For upstreams with names of
      their own, a map: { sonnet-5: vendor.sonnet-5-v1:0, 'haiku-*': true }; true: the name of the catalog. discover: the
      models that the upstream lists (of bedrock and vertex those that are known); /v1/models shows them, the
      first list is logged, and it is requested again every hour. Before the first list any model is tried.`,
  ),
  filter: schemaOnly(Type.Optional(Texts), 'Globs for the names of those models. Default: all.'),
  maxConcurrent: setting(
    Type.Integer({ minimum: 1, default: 32 }),
    'Max concurrent requests; further ones wait, or take another slot.',
  ),
  weight: setting(
    Type.Number({ exclusiveMinimum: 0, default: 1 }),
    'Its share of the load, relative to the other slots, under least-loaded and round-robin.',
  ),
  price: setting(
    Type.Optional(SlotPrice),
    `USD per million tokens, if they differ from the catalog: for all models, or by id with * for all
      others. Tokens of a kind without a price have an unknown cost.`,
    {
      name: 'prices',
      settle: (price) => price && byModel(price),
      show: (prices) => prices && asWritten(prices),
    },
  ),
  discount: setting(
    Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    'Discount of this account as a fraction of the price, 0 to 1. Default: none.',
  ),
  proxy: setting(Type.Optional(Text), 'Proxy for its calls. Default: none.'),
  tls: schemaOnly(
    Type.Optional(TlsFiles),
    `TLS of the connections to baseUrl, by PEM files (relative to this one; a reload reads them again): \`ca\`
      is trusted instead of the public authorities, and may be the server's own certificate; \`cert\` and \`key\`
      are presented to the server; \`servername\` is the name that its certificate must have, by default the host.
      Not for slots of the console, nor for the token endpoint of an account: use NODE_EXTRA_CA_CERTS there.
      Verification cannot be disabled.`,
  ),
  headers: setting(
    Type.Record(Type.String(), Type.String(), { default: {} }),
    'Added to every upstream request. Default: none.',
    {
      settle: (headers) =>
        Object.fromEntries(Object.entries(headers).map(([name, text]) => [name.toLowerCase(), text.trim()])),
    },
  ),
  connectTimeout: duration('10s', 'Time limit for a connection to the upstream.'),
  cooldown: group(
    {
      rateLimited: backoff('30s', '10m', 'A 429.'),
      overloaded: backoff('5s', '2m', 'A 529 or 503.'),
      unreachable: backoff('2s', '1m', 'No connection, or not a single byte of an answer.'),
      max: duration(
        '15m',
        'Whatever the upstream says, a request tries again after this time: accounts may recover before their reset.',
      ),
    },
    `How long it is not used after a failure, if the upstream names no time: the first time, doubled with each
      further failure up to max. A success starts over.`,
  ),
};

/** Schema of an entry under `slots:`. */
export const SlotSchema = Closed(schemasOf(slotSettings));

export type RawSlot = Static<typeof SlotSchema>;

/** Settings of a slot in the checked config. */
export type SlotSettings = Settled<typeof slotSettings>;

type OwnPrice = Static<typeof SlotPrice>;
type Prices = Readonly<Record<string, Static<typeof Price>>>;

/** Prices by catalog id; one price for all models is that of `*`. */
function byModel(price: OwnPrice): Prices {
  return isPrice(price) ? { '*': price } : price;
}

/** Prices as written in the file. */
function asWritten({ '*': price, ...others }: Prices): OwnPrice {
  return price && Object.keys(others).length === 0 ? price : { ...(price && { '*': price }), ...others };
}

/** True for one price of all models. */
export function isPrice(price: OwnPrice): price is Static<typeof Price> {
  return typeof price['input'] === 'number';
}
