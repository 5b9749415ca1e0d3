import type { TSchema } from 'typebox';
import { Type } from '../plugin/index.js';

const names = new Map<object, string>();

/** Names of the schemas that the API's document describes once, of the loaded ones. */
export const schemaNames: ReadonlyMap<object, string> = names;

/** Gives a schema a name, under which the API's document describes it once. */
export function named<Schema extends TSchema>(name: string, schema: Schema): Schema {
  names.set(schema, name);
  return schema;
}

export function Nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}

/** A list: `{"object":"list","data":[…]}`, with further fields. */
export function ListOf<Item extends TSchema, Rest extends Record<string, TSchema>>(item: Item, rest: Rest) {
  return Type.Object({ object: Type.Literal('list'), data: Type.Array(item), ...rest });
}

/** Time in ISO 8601, UTC. */
export const IsoTime = Type.String({ format: 'date-time' });

/** ISO 8601 of unix milliseconds; null for null and undefined. */
export function isoTime(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined ? null : new Date(ms).toISOString();
}

/** Text without control characters, in the syntax that the patterns of ECMAScript, Python and Go share. */
export const plainText = String.raw`^[^\x00-\x1f\x7f-\x9f]*$`;

/** A line without control characters, which some databases refuse. */
export const Line = Type.String({ minLength: 1, maxLength: 200, pattern: plainText });

/** Name of a format of this gateway; the API's document lists them (`withNames`). */
export const FormatName = Type.String({ minLength: 1, maxLength: 200, pattern: plainText, names: 'formats' });

/** Optional note of an operator; null removes it. */
export const Note = Type.Optional(
  Nullable(Type.String({ maxLength: 2000, pattern: String.raw`^[^\x00]*$` })),
);

export const Count = Type.Integer({ minimum: 0 });

/** Number of stored responses, and their bytes with the input of each. */
export const StoredTotal = Type.Object({ count: Count, bytes: Count });

export const Tokens = named(
  'Tokens',
  Type.Object({
    input: Count,
    cache_read: Count,
    cache_write_5m: Count,
    cache_write_1h: Count,
    output: Count,
  }),
);

/** Cost in USD, with at most nine decimals. */
export const Cost = Type.Object({ billed_usd: Type.Number(), shown_usd: Type.Number() });

/** Costs of many requests, of those whose cost is known. */
const CostSum = Type.Object({
  billed_usd: Type.Number(),
  shown_usd: Type.Number(),
  unpriced_requests: Type.Integer({
    minimum: 0,
    description: 'Requests with tokens but an unknown cost, which the sums do not include.',
  }),
});

const PercentilesReport = Nullable(
  Type.Object({ p50: Type.Number(), p95: Type.Number(), p99: Type.Number() }),
);

/** Percentiles in milliseconds. */
export const Latency = Type.Object({
  first_token: PercentilesReport,
  per_output_token: PercentilesReport,
  queue: PercentilesReport,
  total: PercentilesReport,
});

export const UsageBucket = named(
  'UsageBucket',
  Type.Object({
    at: IsoTime,
    group: Nullable(Type.String()),
    name: Nullable(Type.String()),
    requests: Count,
    errors: Count,
    billed: Tokens,
    shown: Tokens,
    cost: CostSum,
    first_event_ms_avg: Nullable(Type.Number()),
    duration_ms_avg: Nullable(Type.Number()),
    cache_hit_ratio: Nullable(
      Type.Number({ description: 'Part of the billed input that was read from the prompt cache, 0 to 1.' }),
    ),
    cache_lost_tokens: Count,
    cache_lost_usd: Type.Number({ description: 'Of the losses whose cost is known.' }),
    latency: Type.Union([Latency, Type.Null()], {
      description:
        'Percentiles in milliseconds, within 9.1 %: to the first content, for each output token after it, in the queue, ' +
        'of the whole request. All requests, slots, models and formats have them; keys, teams, pipelines and labels with steps that are ' +
        'no whole hours, or with filters that count request by request; other groups, and all with `latency=false`, ' +
        'are null.',
    }),
  }),
);

/** Groups of a usage report. */
export const UsageGroup = Type.Enum(
  ['key', 'team', 'slot', 'model', 'asked_model', 'format', 'pipeline', 'label', 'tag', 'stage', 'cause'],
  {
    description:
      '`model`: the model that answered; `asked_model`: the one that the caller asked for, which differs after a fallback or a router; `label`: calls of stages by their purpose, and all requests of callers as one without a name.',
  },
);

/** Sums of the ledger as sent by the console API. */
export const UsageReport = Type.Object({
  object: Type.Literal('usage'),
  from: IsoTime,
  to: IsoTime,
  by: Nullable(UsageGroup),
  tag: Nullable(Type.String()),
  step_seconds: Type.Number(),
  data: Type.Array(UsageBucket),
});

/** The current session as sent by the console API. */
export const SessionReport = Type.Object({
  kind: Type.Enum(['session', 'master']),
  actor: Type.Object({
    kind: Type.Enum(['master', 'password', 'oidc']),
    name: Type.String(),
    role: Type.Enum(['admin', 'viewer']),
  }),
  expires_at: Nullable(IsoTime),
});
