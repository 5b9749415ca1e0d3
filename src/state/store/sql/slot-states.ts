import { sql, type Kysely } from 'kysely';
import type { Json } from '../../../plugin/index.js';
import type { StateChange, Store } from '../contract/store.js';
import type { Tables } from './tables/tables.js';
import { stepResult } from '../../step-result.js';

/** The state of slots. Lifetimes use one clock for all instances: on PostgreSQL that of the server. */
export function sqlSlotStates(
  db: Kysely<Tables>,
  dialect: 'sqlite' | 'postgres',
  now: () => number,
): Store['slotStates'] {
  const clock = () =>
    dialect === 'sqlite'
      ? sql<number>`${now()}`
      : sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
  return {
    async list() {
      const nowMs = clock();
      const { rows } = await sql<ListedState>`
        select key, value, expires_at - ${nowMs} as ttl_ms from slot_states
        where expires_at is null or expires_at > ${nowMs} order by key limit ${maxListed}
      `.execute(db);
      return rows.map(({ key, value, ttl_ms: ttlMs }) => ({
        key,
        value: JSON.parse(value) as Json, // as `write` wrote it
        ...(ttlMs !== null && { ttlMs }),
      }));
    },
    write: async (changes) =>
      db.transaction().execute(async (transaction) => {
        for (const change of changes) await write(transaction, change, clock());
      }),
    async deleteExpired(limit) {
      const { numAffectedRows = 0n } = await sql`
        delete from slot_states where key in
          (select key from slot_states where expires_at <= ${clock()} order by expires_at limit ${limit})
      `.execute(db);
      return stepResult(numAffectedRows, limit);
    },
  };
}

interface ListedState {
  readonly key: string;
  readonly value: string;
  readonly ttl_ms: number | null;
}

async function write(
  db: Kysely<Tables>,
  { key, value, ttlMs }: StateChange,
  nowMs: ReturnType<typeof sql<number>>,
): Promise<void> {
  if (value === undefined) return void (await db.deleteFrom('slot_states').where('key', '=', key).execute());
  const expiresAt = ttlMs === undefined ? sql<null>`null` : sql<number>`${nowMs} + ${Math.ceil(ttlMs)}`;
  await sql`
    insert into slot_states (key, value, expires_at) values (${key}, ${JSON.stringify(value)}, ${expiresAt})
    on conflict (key) do update set value = excluded.value, expires_at = excluded.expires_at
  `.execute(db);
}

/** Far more than a gateway's slots and cooldowns. */
const maxListed = 50_000;
