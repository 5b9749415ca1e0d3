import type { Kysely } from 'kysely';
import type { ProtocolKey } from '../../../plugin/index.js';
import type { Store, KeyPatch } from '../contract/store.js';
import { applyPatch, applyRotation, type Rotation } from '../key-rules.js';
import { keepDeletedName, namesIn } from './deleted-names.js';
import { forgetFormerSecrets, idByFormerHash, indexFormerSecrets } from './ledger/former-secrets.js';
import { fromLimitRecord, toLimitRecord } from './limits.js';
import type { KeyRecord, Tables } from './tables/tables.js';
import { writeChanges } from './sqlite/write-changes.js';

/** Protocol keys in a table. */
export function sqlKeys(db: Kysely<Tables>, now: () => number): Store['keys'] {
  return {
    async findByHash(hash) {
      const found = db
        .selectFrom('keys')
        .selectAll()
        .where((is) => is.or([is('hash', '=', hash), is('id', '=', idByFormerHash(hash))]));
      const record = await found.executeTakeFirst();
      return record && fromRecord(record);
    },
    async get(id) {
      const record = await db.selectFrom('keys').selectAll().where('id', '=', id).executeTakeFirst();
      return record && fromRecord(record);
    },
    async list() {
      const records = await db
        .selectFrom('keys')
        .selectAll()
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .execute();
      return records.map(fromRecord);
    },
    put: (key) => db.transaction().execute((transaction) => put(transaction, key)),
    update: async (id, patch) =>
      db.transaction().execute(async (transaction) => update(transaction, id, patch)),
    rotate: async (id, secret, endsAtMs) =>
      db.transaction().execute((transaction) => rotate(transaction, id, { secret, endsAtMs, nowMs: now() })),
    ofOtherPipelines: (pipelines, limit) => ofOtherPipelines(db, pipelines, { limit, nowMs: now() }),
    delete: async (id) => db.transaction().execute(async (transaction) => remove(transaction, id, now())),
    names: () => namesIn(db, 'keys'),
    async touch(usedAtMs) {
      for (const [id, atMs] of usedAtMs) await touch(db, id, atMs);
    },
  };
}

async function put(db: Kysely<Tables>, key: ProtocolKey): Promise<void> {
  const { id: _, ...rest } = toRecord(key);
  await db
    .insertInto('keys')
    .values(toRecord(key))
    .onConflict((conflict) => conflict.column('id').doUpdateSet(rest))
    .execute();
  await indexFormerSecrets(db, key);
}

/** Locks the row first: of two concurrent rotations, the later one must find the secret of the other. */
async function rotate(db: Kysely<Tables>, id: string, rotation: Rotation): Promise<ProtocolKey | undefined> {
  const locked = db.updateTable('keys').set('id', id).where('id', '=', id).returningAll();
  const before = await locked.executeTakeFirst();
  if (!before) return undefined;
  const after = applyRotation(fromRecord(before), rotation);
  await writeChanges(db, 'keys', before, toRecord(after));
  await indexFormerSecrets(db, after);
  return after;
}

async function update(db: Kysely<Tables>, id: string, patch: KeyPatch): Promise<ProtocolKey | undefined> {
  const before = await db.selectFrom('keys').selectAll().where('id', '=', id).executeTakeFirst();
  if (!before) return undefined;
  const after = applyPatch(fromRecord(before), patch);
  await writeChanges(db, 'keys', before, toRecord(after));
  return after;
}

async function ofOtherPipelines(
  db: Kysely<Tables>,
  pipelines: readonly string[],
  { limit, nowMs }: { readonly limit: number; readonly nowMs: number },
): Promise<readonly ProtocolKey[]> {
  const records = await db
    .selectFrom('keys')
    .selectAll()
    .where('pipeline', 'is not', null)
    .where('pipeline', 'not in', pipelines)
    .where('revoked_at', 'is', null)
    .where((is) => is.or([is('expires_at', 'is', null), is('expires_at', '>', nowMs)]))
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute();
  return records.map(fromRecord);
}

async function remove(db: Kysely<Tables>, id: string, nowMs: number): Promise<boolean> {
  const key = await db.selectFrom('keys').select('name').where('id', '=', id).executeTakeFirst();
  if (!key) return false;
  await db.deleteFrom('keys').where('id', '=', id).execute();
  await forgetFormerSecrets(db, id);
  await keepDeletedName(db, { id, name: key.name, nowMs });
  return true;
}

async function touch(db: Kysely<Tables>, id: string, atMs: number): Promise<void> {
  await db
    .updateTable('keys')
    .set({ last_used_at: atMs })
    .where('id', '=', id)
    .where((is) => is.or([is('last_used_at', 'is', null), is('last_used_at', '<', atMs)]))
    .execute();
}

function toRecord(key: ProtocolKey): KeyRecord {
  return {
    id: key.id,
    name: key.name,
    hash: key.hash,
    last4: key.last4,
    created_at: key.createdAtMs,
    last_used_at: key.lastUsedAtMs ?? null,
    expires_at: key.expiresAtMs ?? null,
    revoked_at: key.revokedAtMs ?? null,
    models: key.models ? JSON.stringify(key.models) : null,
    slots: key.slots ? JSON.stringify(key.slots) : null,
    ...toLimitRecord(key),
    team: key.team ?? null,
    pipeline: key.pipeline ?? null,
    note: key.note ?? null,
    former_secrets: key.formerSecrets ? JSON.stringify(key.formerSecrets) : null,
  };
}

function fromRecord(record: KeyRecord): ProtocolKey {
  return {
    id: record.id,
    name: record.name,
    hash: record.hash,
    last4: record.last4,
    createdAtMs: record.created_at,
    ...(record.last_used_at !== null && { lastUsedAtMs: record.last_used_at }),
    ...(record.expires_at !== null && { expiresAtMs: record.expires_at }),
    ...(record.revoked_at !== null && { revokedAtMs: record.revoked_at }),
    ...(record.models !== null && { models: JSON.parse(record.models) as readonly string[] }), // as `toRecord` wrote it
    ...(record.slots !== null && { slots: JSON.parse(record.slots) as readonly string[] }), // as `toRecord` wrote it
    ...fromLimitRecord(record),
    ...(record.team !== null && { team: record.team }),
    ...(record.pipeline !== null && { pipeline: record.pipeline }),
    ...(record.note !== null && { note: record.note }),
    ...(record.former_secrets !== null && {
      formerSecrets: JSON.parse(record.former_secrets) as NonNullable<ProtocolKey['formerSecrets']>, // as `toRecord` wrote it
    }),
  };
}
