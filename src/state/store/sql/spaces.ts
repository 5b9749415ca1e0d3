import { sql, type Kysely } from 'kysely';
import type { SpaceEntry, Spaces } from '../contract/store.js';
import { deleteExpired } from './expiring.js';
import type { Tables } from './tables/tables.js';

/** Key-value spaces of plugins. */
export function sqlSpaces(db: Kysely<Tables>, now: () => number): Spaces {
  const insert = insertInto(db);
  return {
    deleteExpired: deleteExpired(db, 'plugin_values', ['space', 'key'], now),
    async get(space, key) {
      const { rows } = await sql<{ readonly value: string }>`
        select value from plugin_values
        where space = ${space} and key = ${key} and (expires_at is null or expires_at > ${now()})
      `.execute(db);
      return rows[0]?.value;
    },
    async put(space, entry, maxKeys) {
      if (await insert(space, entry, maxKeys)) return true;
      // Expired values count until they are swept.
      await sql`delete from plugin_values where space = ${space} and expires_at <= ${now()}`.execute(db);
      return insert(space, entry, maxKeys);
    },
    async delete(space, key) {
      const { rows } = await sql<{ readonly expires_at: number | null }>`
        delete from plugin_values where space = ${space} and key = ${key} returning expires_at
      `.execute(db);
      return rows.some(({ expires_at: at }) => at === null || at > now());
    },
    async list(space, { prefix, after, limit }) {
      const from = after !== undefined && after >= prefix ? sql`key > ${after}` : sql`key >= ${prefix}`;
      const { rows } = await sql<{ readonly key: string; readonly value: string }>`
        select key, value from plugin_values
        where space = ${space} and ${from} and key < ${prefix + lastCharacter}
          and (expires_at is null or expires_at > ${now()})
        order by key limit ${sql.lit(limit)}
      `.execute(db);
      return rows.map(({ key, value }) => ({ key, text: value }));
    },
  };
}

/** Sorts after every key, whose order is that of UTF-8. */
const lastCharacter = '\u{10ffff}';

type Insert = (
  space: string,
  entry: SpaceEntry & { readonly expiresAtMs?: number },
  maxKeys: number,
) => Promise<boolean>;

/** Inserts or replaces a value, unless the space is full and the key is new. */
function insertInto(db: Kysely<Tables>): Insert {
  return async (space, { key, text, expiresAtMs }, maxKeys) => {
    const isKnown = sql`exists (select 1 from plugin_values where space = ${space} and key = ${key})`;
    const count = sql`select count(*) from
      (select 1 from plugin_values where space = ${space} limit ${sql.lit(maxKeys)}) as counted`;
    const { numAffectedRows = 0n } = await sql`
      insert into plugin_values (space, key, value, expires_at)
      select cast(${space} as text), cast(${key} as text), cast(${text} as text), cast(${expiresAtMs ?? null} as bigint)
      where (${count}) < ${sql.lit(maxKeys)} or ${isKnown}
      on conflict (space, key) do update set value = excluded.value, expires_at = excluded.expires_at
    `.execute(db);
    return numAffectedRows > 0n;
  };
}
