import type { Kysely } from 'kysely';
import type { AdminToken, AdminTokens } from '../contract/admin-token.js';
import type { AdminTokenRecord } from './audit-records.js';
import type { Tables } from './tables/tables.js';

/** Admin tokens in a table. */
export function sqlAdminTokens(db: Kysely<Tables>): AdminTokens {
  const all = () => db.selectFrom('admin_tokens').selectAll();
  const one = async (column: 'id' | 'hash', value: string) => {
    const record = await all().where(column, '=', value).executeTakeFirst();
    return record && fromRecord(record);
  };
  return {
    findByHash: (hash) => one('hash', hash),
    get: (id) => one('id', id),
    async list() {
      const records = await all().orderBy('created_at', 'desc').orderBy('id').execute();
      return records.map(fromRecord);
    },
    async add(token) {
      const { numInsertedOrUpdatedRows = 0n } = await db
        .insertInto('admin_tokens')
        .values(toRecord(token))
        .onConflict((conflict) => conflict.column('name').doNothing())
        .executeTakeFirst();
      return numInsertedOrUpdatedRows > 0n;
    },
    async revoke(id, atMs) {
      await db
        .updateTable('admin_tokens')
        .set({ revoked_at: atMs })
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .execute();
      return one('id', id);
    },
    async delete(id) {
      const done = await db.deleteFrom('admin_tokens').where('id', '=', id).executeTakeFirst();
      return done.numDeletedRows > 0n;
    },
    async touch(usedAtMs) {
      for (const [id, atMs] of usedAtMs) await touch(db, id, atMs);
    },
  };
}

async function touch(db: Kysely<Tables>, id: string, atMs: number): Promise<void> {
  await db
    .updateTable('admin_tokens')
    .set({ last_used_at: atMs })
    .where('id', '=', id)
    .where((is) => is.or([is('last_used_at', 'is', null), is('last_used_at', '<', atMs)]))
    .execute();
}

function toRecord(token: AdminToken): AdminTokenRecord {
  return {
    id: token.id,
    name: token.name,
    hash: token.hash,
    last4: token.last4,
    scopes: JSON.stringify(token.scopes),
    created_by: token.createdBy,
    created_at: token.createdAtMs,
    expires_at: token.expiresAtMs ?? null,
    last_used_at: token.lastUsedAtMs ?? null,
    revoked_at: token.revokedAtMs ?? null,
  };
}

function fromRecord(record: AdminTokenRecord): AdminToken {
  return {
    id: record.id,
    name: record.name,
    hash: record.hash,
    last4: record.last4,
    scopes: JSON.parse(record.scopes) as readonly string[], // as `toRecord` wrote it
    createdBy: record.created_by,
    createdAtMs: record.created_at,
    ...(record.expires_at !== null && { expiresAtMs: record.expires_at }),
    ...(record.last_used_at !== null && { lastUsedAtMs: record.last_used_at }),
    ...(record.revoked_at !== null && { revokedAtMs: record.revoked_at }),
  };
}
