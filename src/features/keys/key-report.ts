import type { Static } from 'typebox';
import { Closed } from '../../kit/schema/type.js';
import { Duration, Type, type ProtocolKey } from '../../plugin/index.js';
import type { KeyPatch } from '../../state/store/contract/store.js';
import { Time, timeMs } from '../../kit/schema/units.js';
import { pipelinePatch, reportedPipeline, settablePipeline } from './pipeline-field.js';
import { limitsPatch, limitsReport, reportedLimits, settableLimits } from './limit-fields.js';
import { IsoTime, isoTime, Line, named, Note, Nullable, StoredTotal } from '../../operator/schemas.js';

const settable = {
  expires_at: Type.Optional(Nullable(Time())),
  models: Type.Optional(Nullable(Type.Array(Line, { minItems: 1, maxItems: 200 }))),
  slots: Type.Optional(Nullable(Type.Array(Line, { minItems: 1, maxItems: 200 }))),
  team: Type.Optional(Nullable(Line)),
  pipeline: settablePipeline,
  ...settableLimits,
  note: Note,
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
  team: Nullable(Type.String({ description: 'Id of its team, whose limits and budgets it shares.' })),
  pipeline: reportedPipeline,
  ...reportedLimits,
  note: Nullable(Type.String()),
  former_secrets: Type.Array(Type.Object({ last4: Type.String(), ends_at: IsoTime }), {
    description: 'Earlier secrets that are still accepted until `ends_at`, oldest first.',
  }),
};

/** A key as sent by the console API. */
export const KeyReport = named('Key', Type.Object(reported));
/** A key in the list of all keys. */
export const ListedKey = Type.Object({ ...reported, stored_responses: Nullable(StoredTotal) });
const unknown = Type.Array(Type.String(), {
  description: 'Those of `models` that are in neither the catalog nor the list of a slot.',
});
/** A key that was changed. */
export const ChangedKeyReport = Type.Object({ ...reported, unknown_models: unknown });
/** An issued key with its secret text, sent only once. */
export const IssuedKey = named(
  'IssuedKey',
  Type.Object({ ...reported, unknown_models: unknown, key: Type.String() }),
);

/** Default grace period of the former secrets after a rotation. */
export const defaultGrace = '24h';

/** Body of a rotation. */
export const Rotation = Closed({
  grace: Type.Optional(
    Duration({
      default: defaultGrace,
      description: 'Time for which earlier secrets keep working; `0s`: they end at once.',
    }),
  ),
});

/** A key as sent by the console API, at a time. */
export function keyReport(key: ProtocolKey, nowMs: number): Static<typeof KeyReport> {
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
    team: key.team ?? null,
    pipeline: key.pipeline ?? null,
    ...limitsReport(key),
    note: key.note ?? null,
    former_secrets: (key.formerSecrets ?? [])
      .filter(({ endsAtMs }) => endsAtMs > nowMs)
      .map(({ last4, endsAtMs }) => ({ last4, ends_at: new Date(endsAtMs).toISOString() })),
  };
}

/** Patch with the fields that a body contains, and no others. */
export function toPatch(body: Static<typeof ChangedKey>): KeyPatch {
  const { expires_at: expiresAt, revoked_at: revokedAt, name, models, slots, note } = body;
  return withoutUndefined<KeyPatch>({
    name,
    models,
    slots,
    note,
    expiresAtMs: momentOf(expiresAt),
    revokedAtMs: momentOf(revokedAt),
    team: body.team,
    pipeline: pipelinePatch(body),
    ...limitsPatch(body),
  });
}

/** The fields of a patch that a body contains. */
export function withoutUndefined<Patch extends object>(fields: {
  readonly [Field in keyof Patch]: Patch[Field] | undefined;
}): Patch {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Patch; // fields of it
}

function momentOf(time: string | number | null | undefined): number | null | undefined {
  return time === null || time === undefined ? time : timeMs(time);
}
