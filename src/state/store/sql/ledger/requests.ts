import { setImmediate as breath } from 'node:timers/promises';
import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { LedgerPage, LedgerRow, LedgerRowKey } from '../../../ledger/contract.js';
import type { LedgerFilter } from '../../../../plugin/core.js';
import { readCursor, writeCursor } from '../../page-cursor.js';
import { listedColumns, readRow, type ListedRecord } from '../../../ledger/columns.js';
import { allOf } from './conditions.js';
import { searchFor, type LedgerSearch } from './ledger-search.js';
import type { Tables } from '../tables/tables.js';

/**
 * A page of rows, newest first. Looks up the rarest condition in its index and filters by the others,
 * `partSize` rows at a time.
 */
export async function sqlRequests(
  db: Kysely<Tables>,
  filter: LedgerFilter,
  { cursor, limit }: { readonly cursor?: string; readonly limit: number },
  partSize: number,
): Promise<LedgerPage> {
  const size = Math.min(limit, 1000);
  const search = await searchFor(db, filter);
  const found: LedgerRow[] = [];
  let after: LedgerRowKey | undefined = cursor === undefined ? undefined : readCursor(cursor);
  do {
    const part = partOf(search, after, search.others.length === 0 ? size + 1 : Math.max(size + 1, partSize));
    found.push(...(await rowsIn(db, search, part, size + 1 - found.length)));
    if (found.length > size || search.others.length === 0) break;
    after = await lastOf(db, part);
    if (after) await breath();
  } while (after);
  const rows = found.slice(0, size);
  const last = rows.at(-1);
  return { rows, ...(found.length > size && last && { cursor: writeCursor(last) }) };
}

/** Rows of these that the ledger has, each looked up by the primary key. */
export async function sqlRowsOf(
  db: Kysely<Tables>,
  keys: readonly LedgerRowKey[],
): Promise<readonly LedgerRow[]> {
  if (keys.length === 0) return [];
  const values = sql.join(keys.map(({ atMs, id }) => sql`(cast(${atMs} as bigint), cast(${id} as text))`));
  const { rows } = await sql<ListedRecord>`
    with place (at, id) as (values ${values})
    select ${listed()} from place cross join ledger where ledger.at = place.at and ledger.id = place.id
  `.execute(db);
  return rows.map(readRow);
}

/** One part of a search: the query for its rows, newest first, and its max size. */
interface Part {
  readonly places: RawBuilder<unknown>;
  readonly size: number;
}

function partOf({ within, first }: LedgerSearch, after: LedgerRowKey | undefined, size: number): Part {
  const later = after ? [sql<boolean>`(at, id) < (${after.atMs}, ${after.id})`] : [];
  const where = allOf([...within, ...(first ? [first] : []), ...later]);
  const places = sql`select at, id from ledger where ${where} order by at desc, id desc`;
  return { places, size };
}

async function rowsIn(
  db: Kysely<Tables>,
  { others }: LedgerSearch,
  { places, size }: Part,
  max: number,
): Promise<readonly LedgerRow[]> {
  const { rows } = await sql<ListedRecord>`
    select ${listed()} from (${places} limit ${sql.lit(size)}) as place cross join ledger
    where ledger.at = place.at and ledger.id = place.id and ${allOf(others)}
    order by place.at desc, place.id desc limit ${sql.lit(max)}
  `.execute(db);
  return rows.map(readRow);
}

function listed(): RawBuilder<unknown> {
  return sql.join(listedColumns.map((column) => sql.ref(`ledger.${column}`)));
}

/** Start of the next part; undefined after the last part. */
async function lastOf(db: Kysely<Tables>, { places, size }: Part): Promise<LedgerRowKey | undefined> {
  const { rows } = await sql<{ readonly at: number; readonly id: string }>`
    ${places} limit 1 offset ${sql.lit(size - 1)}
  `.execute(db);
  return rows[0] && { atMs: rows[0].at, id: rows[0].id };
}
