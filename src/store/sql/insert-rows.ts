import { CompiledQuery, type Kysely } from 'kysely';
import type { LedgerRecord, Tables } from './tables.js';

/** Few sizes, so that each has its one text. */
const partSizes = [100, 10, 1] as const;

/**
 * Inserts rows of the ledger. Its queries are built once for each size: building one anew for every batch cost more than
 * the database takes for it (20 of 35 µs a row).
 */
export class RowInsert {
  /** By how many rows they insert. */
  readonly #texts = new Map<number, string>();

  /** The ids of those that the table did not have: that is what the database says, so that none counts twice. */
  async run(db: Kysely<Tables>, records: readonly LedgerRecord[]): Promise<Set<string>> {
    const ids = new Set<string>();
    for (const part of inParts(records)) {
      const { rows } = await db.executeQuery(this.#query(db, part));
      for (const { id } of rows) ids.add(id);
    }
    return ids;
  }

  /** The values of a record stand in the order of its columns, which is the same for all. */
  #query(db: Kysely<Tables>, records: readonly LedgerRecord[]): CompiledQuery<{ id: string }> {
    const text = this.#texts.get(records.length) ?? build(db, records);
    this.#texts.set(records.length, text);
    return CompiledQuery.raw(
      text,
      records.flatMap((record) => Object.values(record)),
    );
  }
}

function build(db: Kysely<Tables>, records: readonly LedgerRecord[]): string {
  const query = db
    .insertInto('ledger')
    .values(records)
    .onConflict((conflict) => conflict.doNothing())
    .returning('id');
  return query.compile().sql;
}

function* inParts(records: readonly LedgerRecord[]): Generator<readonly LedgerRecord[]> {
  for (let at = 0; at < records.length;) {
    const left = records.length - at;
    const size = partSizes.find((some) => some <= left) ?? 1;
    yield records.slice(at, at + size);
    at += size;
  }
}
