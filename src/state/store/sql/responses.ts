import { sql, type Kysely } from 'kysely';
import type { ResponseQuota } from '../../../plugin/index.js';
import type { StoredResponse } from '../../../plugin/format/index.js';
import type { Store } from '../contract/store.js';
import { deleteExpired } from './expiring.js';
import type { Tables } from './tables/tables.js';

/** Stored Responses. Triggers keep the totals of each owner, so that every kind of deletion updates them. */
export function sqlResponses(db: Kysely<Tables>, now: () => number): Store['responses'] {
  const find = (owner: string, id: string) =>
    db
      .selectFrom('responses')
      .where('owner', '=', owner)
      .where('id', '=', id)
      .where('expires_at', '>', now());
  return {
    deleteExpired: deleteExpired(db, 'responses', ['owner', 'id'], now),
    async get(owner, id) {
      const record = await find(owner, id).select(['body', 'input', 'expires_at']).executeTakeFirst();
      if (!record) return undefined;
      const body = JSON.parse(record.body) as Body; // as `put` wrote it, or a version before
      const input = record.input === null ? (body.input ?? []) : (JSON.parse(record.input) as Input); // as `put` wrote it
      return { id, owner, input, response: body.response, expiresAtMs: record.expires_at };
    },
    async getResponse(owner, id) {
      const record = await find(owner, id).select('body').executeTakeFirst();
      return record && (JSON.parse(record.body) as Body).response; // as `put` wrote it
    },
    async put({ id, owner, input, response, expiresAtMs }, quota) {
      const texts = { body: JSON.stringify({ response }), input: JSON.stringify(input) };
      const bytes = Buffer.byteLength(texts.body) + Buffer.byteLength(texts.input);
      if (quota?.eachBytes !== undefined && bytes > quota.eachBytes) return false;
      const rest = { ...texts, bytes, created_at: now(), expires_at: expiresAtMs };
      await db
        .insertInto('responses')
        .values({ owner, id, ...rest })
        .onConflict((conflict) => conflict.columns(['owner', 'id']).doUpdateSet(rest))
        .execute();
      if (quota) await makeRoom(db, owner, quota);
      return true;
    },
    async delete(owner, id) {
      const { numDeletedRows } = await db
        .deleteFrom('responses')
        .where('owner', '=', owner)
        .where('id', '=', id)
        .where('expires_at', '>', now())
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
    async totals() {
      const totals = await db.selectFrom('response_totals').selectAll().where('responses', '>', 0).execute();
      return new Map(totals.map(({ owner, responses, bytes }) => [owner, { count: responses, bytes }]));
    },
  };
}

type Input = StoredResponse['input'];

interface Body {
  readonly response: StoredResponse['response'];
  /** Input in rows that were written before it had its own column. */
  readonly input?: Input;
}

/** Deletes the oldest responses of an owner until the rest is within the quota. */
async function makeRoom(db: Kysely<Tables>, owner: string, quota: ResponseQuota): Promise<void> {
  for (let step = 0; step < maxSteps; step += 1)
    if ((await deleteOldest(db, owner, quota)) < stepRows) return;
}

/** Deletes in one statement, so that two at once decide on the same rows. Returns the number of deleted ones. */
async function deleteOldest(db: Kysely<Tables>, owner: string, quota: ResponseQuota): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    with
      oldest as (
        select id, created_at, bytes from responses where owner = ${owner}
        order by created_at, id limit ${sql.lit(stepRows)}
      ),
      older as (
        select id, bytes,
          row_number() over (order by created_at, id) as place,
          sum(bytes) over (order by created_at, id) as bytes_so_far
        from oldest
      )
    delete from responses where owner = ${owner} and id in (
      select older.id from older, response_totals as total
      where total.owner = ${owner} and (
        total.responses - older.place >= ${quota.count}
        or total.bytes - (older.bytes_so_far - older.bytes) > ${quota.bytes}
      )
    )
  `.execute(db);
  return Number(numAffectedRows);
}

/** Max number of rows deleted by one statement, so that others are not blocked. */
const stepRows = 100;
/** Max steps for one response; the rest is deleted with the next one. */
const maxSteps = 100;
