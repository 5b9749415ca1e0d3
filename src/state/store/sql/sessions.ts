import { sql, type Kysely } from 'kysely';
import type { Actor } from '../contract/actor.js';
import type { ConsoleSession, Store, Subject } from '../contract/store.js';
import { deleteExpired } from './expiring.js';
import type { SessionRecord, Tables } from './tables/tables.js';

/** Console logins. */
export function sqlSessions(
  db: Kysely<Tables>,
  dialect: 'sqlite' | 'postgres',
  now: () => number,
): Store['sessions'] {
  const alive = () => db.selectFrom('sessions').selectAll().where('expires_at', '>', now());
  return {
    deleteExpired: deleteExpired(db, 'sessions', ['token_hash'], now),
    async get(tokenHash) {
      const record = await alive().where('token_hash', '=', tokenHash).executeTakeFirst();
      return record && readSession(record);
    },
    async list() {
      const records = await alive().orderBy('created_at', 'desc').orderBy('token_hash').execute();
      return records.map(readSession);
    },
    async put(session) {
      const { subject } = session;
      if (!subject) return insert(db, session).then(() => 0);
      return db.transaction().execute(async (transaction) => {
        if (dialect === 'postgres') await lockSubject(transaction, subject);
        const ended = await endOtherRoles(transaction, { ...session, subject });
        await insert(transaction, session);
        return ended;
      });
    },
    async touch(tokenHash, seenAtMs) {
      await db
        .updateTable('sessions')
        .set({ last_seen_at: seenAtMs })
        .where('token_hash', '=', tokenHash)
        .where((eb) => eb.or([eb('last_seen_at', 'is', null), eb('last_seen_at', '<', seenAtMs)]))
        .execute();
    },
    async delete(tokenHash) {
      const done = await db.deleteFrom('sessions').where('token_hash', '=', tokenHash).executeTakeFirst();
      return done.numDeletedRows > 0n;
    },
  };
}

async function insert(db: Kysely<Tables>, session: ConsoleSession): Promise<void> {
  const { token_hash: tokenHash, ...rest } = writeSession(session);
  await db
    .insertInto('sessions')
    .values({ token_hash: tokenHash, ...rest })
    .onConflict((conflict) => conflict.column('token_hash').doUpdateSet(rest))
    .execute();
}

/** Serializes the logins of a person until the transaction ends, as all writes to a SQLite file are. */
async function lockSubject(db: Kysely<Tables>, { issuer, id }: Subject): Promise<void> {
  const name = JSON.stringify(['gw2api session', issuer, id]);
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(db);
}

/** Deletes the sessions of a person with another role than in this one. Returns their number. */
async function endOtherRoles(
  db: Kysely<Tables>,
  { subject, actor }: ConsoleSession & { readonly subject: Subject },
): Promise<number> {
  const done = await db
    .deleteFrom('sessions')
    .where('subject_issuer', '=', subject.issuer)
    .where('subject_id', '=', subject.id)
    .where('role', '!=', actor.role)
    .executeTakeFirst();
  return Number(done.numDeletedRows);
}

function writeSession(session: ConsoleSession): SessionRecord {
  const { actor } = session;
  return {
    token_hash: session.tokenHash,
    csrf_hash: session.csrfHash,
    created_at: session.createdAtMs,
    expires_at: session.expiresAtMs,
    actor_kind: actor.kind,
    actor_name: actor.name,
    role: actor.role,
    last_seen_at: session.lastSeenAtMs ?? null,
    address: session.address ?? null,
    user_agent: session.userAgent ?? null,
    subject_issuer: session.subject?.issuer ?? null,
    subject_id: session.subject?.id ?? null,
  };
}

function readSession(record: SessionRecord): ConsoleSession {
  const { last_seen_at: lastSeenAtMs, address, user_agent: userAgent } = record;
  const { subject_issuer: issuer, subject_id: id } = record;
  return {
    tokenHash: record.token_hash,
    csrfHash: record.csrf_hash,
    actor: actorOf(record),
    createdAtMs: record.created_at,
    expiresAtMs: record.expires_at,
    ...(lastSeenAtMs !== null && { lastSeenAtMs }),
    ...(address !== null && { address }),
    ...(userAgent !== null && { userAgent }),
    ...(issuer !== null && id !== null && { subject: { issuer, id } }),
  };
}

/** Absent: a login with the password, from before there were other kinds. */
function actorOf({ actor_kind: kind, actor_name: name, role }: SessionRecord): Actor {
  if (kind === null) return { kind: 'password', name: 'password', role: 'admin' };
  return {
    kind: kind === 'oidc' ? 'oidc' : 'password',
    name: name ?? '',
    role: role === 'admin' ? 'admin' : 'viewer',
  };
}
