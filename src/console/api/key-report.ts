import type { Static } from 'typebox';
import { isoTime } from '../../admin/reports.js';
import { Closed, Time, timeMs, Type, type KeyPatch, type ProtocolKey } from '../../plugin/internal.js';
import { IsoTime, Line, Nullable, StoredTotal } from './schemas.js';

const Limit = Type.Integer({ minimum: 1, maximum: 1e12 });

const settable = {
  expires_at: Type.Optional(Nullable(Time())),
  models: Type.Optional(Nullable(Type.Array(Line, { minItems: 1, maxItems: 200 }))),
  slots: Type.Optional(Nullable(Type.Array(Line, { minItems: 1, maxItems: 200 }))),
  requests_per_minute: Type.Optional(Nullable(Limit)),
  tokens_per_minute: Type.Optional(Nullable(Limit)),
  tokens_per_day: Type.Optional(Nullable(Limit)),
  tokens_per_month: Type.Optional(Nullable(Limit)),
  max_concurrent: Type.Optional(Nullable(Limit)),
  note: Type.Optional(Nullable(Type.String({ maxLength: 2000, pattern: '^[^\\u0000]*$' }))),
};

/** Body of a request that issues a key. */
export const NewKey = Closed({ name: Line, ...settable });

/** Merge patch of a key. */
export const ChangedKey = Closed({
  name: Type.Optional(Line),
  ...settable,
  revoked_at: Type.Optional(Nullable(Time())),
});

const reported = {
  id: Type.String(),
  name: Type.String(),
  last4: Type.String(),
  created_at: IsoTime,
  last_used_at: Nullable(IsoTime),
  expires_at: Nullable(IsoTime),
  revoked_at: Nullable(IsoTime),
  models: Nullable(Type.Array(Type.String(), { description: 'Catalog ids or globs; null: all.' })),
  slots: Nullable(Type.Array(Type.String(), { description: 'Slot ids or globs; null: all.' })),
  requests_per_minute: Nullable(Type.Integer()),
  tokens_per_minute: Nullable(Type.Integer()),
  tokens_per_day: Nullable(Type.Integer()),
  tokens_per_month: Nullable(Type.Integer()),
  max_concurrent: Nullable(Type.Integer()),
  note: Nullable(Type.String()),
};

/** A key as sent by the panel API. */
export const KeyReport = Type.Object(reported);
/** A key in the list of all keys. */
export const ListedKey = Type.Object({ ...reported, stored_responses: Nullable(StoredTotal) });
/** An issued key with its secret text, sent only once. */
export const IssuedKey = Type.Object({ ...reported, key: Type.String() });

export function keyReport(key: ProtocolKey): Static<typeof KeyReport> {
  return {
    id: key.id,
    name: key.name,
    last4: key.last4,
    created_at: new Date(key.createdAtMs).toISOString(),
    last_used_at: isoTime(key.lastUsedAtMs),
    expires_at: isoTime(key.expiresAtMs),
    revoked_at: isoTime(key.revokedAtMs),
    models: key.models ? [...key.models] : null,
    slots: key.slots ? [...key.slots] : null,
    requests_per_minute: key.requestsPerMinute ?? null,
    tokens_per_minute: key.tokensPerMinute ?? null,
    tokens_per_day: key.tokensPerDay ?? null,
    tokens_per_month: key.tokensPerMonth ?? null,
    max_concurrent: key.maxConcurrent ?? null,
    note: key.note ?? null,
  };
}

/** Patch with the fields that a body contains, and no others. */
export function toPatch(body: Static<typeof ChangedKey>): KeyPatch {
  const { expires_at: expiresAt, revoked_at: revokedAt, name, models, slots, note } = body;
  const patch: { [Field in keyof KeyPatch]?: KeyPatch[Field] | undefined } = {
    name,
    models,
    slots,
    note,
    expiresAtMs: momentOf(expiresAt),
    revokedAtMs: momentOf(revokedAt),
    requestsPerMinute: body.requests_per_minute,
    tokensPerMinute: body.tokens_per_minute,
    tokensPerDay: body.tokens_per_day,
    tokensPerMonth: body.tokens_per_month,
    maxConcurrent: body.max_concurrent,
  };
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
}

function momentOf(time: string | number | null | undefined): number | null | undefined {
  return time === null || time === undefined ? time : timeMs(time);
}
