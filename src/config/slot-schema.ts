import type { Static } from 'typebox';
import { Closed } from '../kit/schema/closed.js';
import { Described } from '../kit/schema/described.js';
import { Duration, TlsFiles, Type } from '../plugin/index.js';
import { Texts } from './stage-schema.js';

const Text = Type.String({ minLength: 1 });

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
    rateLimited: Described(Backoff('30s', '10m'), 'A 429.'),
    overloaded: Described(Backoff('5s', '2m'), 'A 529 or 503.'),
    unreachable: Described(Backoff('2s', '1m'), 'No connection, or no byte of an answer.'),
    max: Described(
      Duration({ default: '15m' }),
      'Whatever the upstream says, a request asks again after this time: accounts may be back before their reset.',
    ),
  },
  { default: {} },
);

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

/** Schema of an entry under `slots:`. */
export const SlotSchema = Closed({
  id: Described(Text, 'Its name in logs, metrics, headers of answers and the console.'),
  upstream: Described(
    Text,
    'messages | bedrock | vertex | chat | responses | simulator | ./mine.js | an npm package',
  ),
  with: Described(
    Type.Unsafe<Record<string, unknown>>({ type: 'object', default: {} }),
    'Options of the upstream.',
  ),
  baseUrl: Described(
    Type.Optional(Text),
    `Without what every call adds (messages: /v1/messages). Kinds that compute it from their options need
      none.`,
  ),
  account: Described(
    Type.Optional(Account),
    `api-key | bearer | aws-sigv4 | google | azure-entra | oauth | none | ./mine.js | an npm package, with the keys
      of that kind.`,
  ),
  organization: Described(
    Type.Optional(Text),
    `Organisation of the account at its provider, to which signed thinking is bound: sessions stay with the slots
      of one. Default: one for each kind of upstream and base URL.`,
  ),
  models: Described(
    Served,
    `Catalog ids that it serves; * also lets models through that the catalog lacks. With names of this upstream's
      own, a map: { sonnet-5: vendor.sonnet-5-v1:0, 'haiku-*': true }; true: the name of the catalog. discover: the
      models that the upstream lists (of bedrock and vertex those that are known); /v1/models shows them, the log
      has the first list, and it is asked for again after an hour. Before the first list any model is tried.`,
  ),
  filter: Described(Type.Optional(Texts), 'Globs over the names of those models. Default: all.'),
  maxConcurrent: Described(
    Type.Integer({ minimum: 1, default: 32 }),
    'Requests at a time; more of them wait, or take another slot.',
  ),
  weight: Described(
    Type.Number({ exclusiveMinimum: 0, default: 1 }),
    'Its share beside the other slots under least-loaded and round-robin.',
  ),
  price: Described(
    Type.Optional(SlotPrice),
    `USD per million tokens, where they are not those of the catalog: of all models, or by id with * for all
      others. Tokens of a sort without a price have an unknown cost.`,
  ),
  discount: Described(
    Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    'Part of the price that this account does not pay, 0 to 1. Default none.',
  ),
  proxy: Described(Type.Optional(Text), 'Its own way out. Default none.'),
  tls: Described(
    Type.Optional(TlsFiles),
    `TLS of the connections to baseUrl, by files of PEM (relative to this one; a reload reads them again): \`ca\` is
      trusted in place of the public authorities, and may be the server's own certificate; \`cert\` and \`key\` are
      shown to the server; \`servername\` is the name that its certificate must have, by default the host. Not for
      slots of the console, nor for the token endpoint of an account, which NODE_EXTRA_CA_CERTS is for. Nothing
      switches the check off.`,
  ),
  headers: Described(
    Type.Record(Type.String(), Type.String(), { default: {} }),
    'Added to every upstream request. Default none.',
  ),
  connectTimeout: Described(Duration({ default: '10s' }), 'Time limit for a connection to the upstream.'),
  cooldown: Described(
    Cooldown,
    `How long it is left alone after a failure, where the upstream names no time: the first time, doubled with each
      further failure up to max. A success starts over.`,
  ),
});

export type RawSlot = Static<typeof SlotSchema>;
