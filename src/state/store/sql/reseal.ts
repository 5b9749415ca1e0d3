import { sql, type Kysely } from 'kysely';
import { keyIdOf, type CredentialCipher } from '../credential-cipher.js';
import { StoreError } from '../store-error.js';
import { sealedColumns, type SealedColumn } from './secrets.js';
import type { Tables } from './tables/tables.js';

/** Result of resealing items of one kind. */
export interface Resealed {
  /** Resealed now. */
  readonly resealed: number;
  /** Sealed by the key in force now. */
  readonly current: number;
  /** Messages about data that no key has opened. */
  readonly problems: readonly string[];
}

/**
 * Reseals data that another key than the one in force has sealed. Gateways may read and write meanwhile: a row that one
 * of them has changed is left unchanged, and checked again.
 */
export async function resealTables(db: Kysely<Tables>, cipher: CredentialCipher): Promise<Resealed> {
  let resealed = 0;
  for (let pass = 1; ; pass += 1) {
    const done = await resealOnce(db, cipher);
    resealed += done.resealed;
    const { current, problems } = done;
    if (done.resealed + done.missed === 0 || pass === maxPasses) return { resealed, current, problems };
  }
}

/** Max passes; each but the last follows a change by a gateway that still seals by the old key. */
const maxPasses = 5;

interface Pass extends Resealed {
  /** Rows that were changed between reading and writing. */
  readonly missed: number;
}

async function resealOnce(db: Kysely<Tables>, cipher: CredentialCipher): Promise<Pass> {
  const { current: currentKey } = await cipher.keyIds();
  const count = { resealed: 0, current: 0, missed: 0 };
  const problems: string[] = [];
  for (const column of sealedColumns)
    for await (const row of sealedRows(db, column)) {
      if (keyIdOf(row.sealed) === currentKey) count.current += 1;
      else
        await resealRow(db, { column, row, cipher })
          .then((isDone) => (count[isDone ? 'resealed' : 'missed'] += 1))
          .catch((error: unknown) => problems.push(sentenceOf(error)));
    }
  return { ...count, problems };
}

/** Message of a text that cannot be opened; rethrows any other error. */
function sentenceOf(error: unknown): string {
  if (error instanceof StoreError) return error.message;
  throw error;
}

interface SealedRow {
  readonly id: string;
  readonly sealed: string;
}

interface Place {
  readonly column: SealedColumn;
  readonly row: SealedRow;
  readonly cipher: CredentialCipher;
}

/** Reseals one text, unless it has changed since it was read; true if it was resealed. */
async function resealRow(db: Kysely<Tables>, { column, row, cipher }: Place): Promise<boolean> {
  const name = column.nameOf(row.id);
  const fresh = await cipher.seal(name, await cipher.open(name, row.sealed));
  const { numAffectedRows = 0n } = await sql`
    update ${sql.table(column.table)} set ${sql.ref(column.column)} = ${fresh}
    where ${sql.ref(column.id)} = ${row.id} and ${sql.ref(column.column)} = ${row.sealed}
  `.execute(db);
  return numAffectedRows > 0n;
}

/** Sealed texts of a column in the order of their ids, a page at a time. */
async function* sealedRows(
  db: Kysely<Tables>,
  { table, id, column }: SealedColumn,
): AsyncGenerator<SealedRow> {
  for (let after = ''; ;) {
    const { rows } = await sql<SealedRow>`
      select ${sql.ref(id)} as id, ${sql.ref(column)} as sealed from ${sql.table(table)}
      where ${sql.ref(id)} > ${after} order by ${sql.ref(id)} limit ${sql.lit(pageSize)}
    `.execute(db);
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < pageSize) return;
    after = last.id;
  }
}

const pageSize = 100;

/** Opens each sealed text; counts them by the key that opens them. */
export async function sealedCounts(
  db: Kysely<Tables>,
  cipher: CredentialCipher,
): Promise<{ readonly current: number; readonly old: number; readonly problems: readonly string[] }> {
  const count = { current: 0, old: 0 };
  const problems: string[] = [];
  for (const column of sealedColumns)
    for await (const { id, sealed } of sealedRows(db, column))
      await opened(cipher, column.nameOf(id), sealed)
        .then((by) => (count[by] += 1))
        .catch((error: unknown) => problems.push(sentenceOf(error)));
  return { ...count, problems };
}

/** The key that opens a text. Throws a StoreError if none does, or there is none. */
async function opened(cipher: CredentialCipher, name: string, sealed: string): Promise<'current' | 'old'> {
  await cipher.open(name, sealed);
  return keyIdOf(sealed) === (await cipher.keyIds()).current ? 'current' : 'old';
}

/** Number of sealed values in each space of plugins by key: only the plugin itself could open and seal them. */
export async function pluginValuesSealedBy(
  db: Kysely<Tables>,
  keyId: string,
): Promise<readonly { readonly space: string; readonly count: number }[]> {
  const { rows } = await sql<{ space: string; count: number }>`
    select space, count(*) as count from plugin_values where value like ${`%v1.${keyId}.%`} group by space order by space
  `.execute(db);
  return rows;
}
