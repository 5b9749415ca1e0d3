import type { Compilable, Kysely } from 'kysely';
import type { LedgerRecord, Tables } from './tables.js';
import { CompiledQuery } from './kysely.js';

/** Few sizes, so that each has its one text. */
const partSizes = [100, 10, 1] as const;

/**
 * Runs a query for any number of records, in parts. Its texts are built once for each size: building one anew for
 * every batch would take 4 µs a row.
 */
export class PreparedParts<Item extends object, Row> {
  readonly #build: (db: Kysely<Tables>, records: readonly Item[]) => Compilable;
  /** By how many records they are for. */
  readonly #texts = new Map<number, string>();

  constructor(build: (db: Kysely<Tables>, records: readonly Item[]) => Compilable) {
    this.#build = build;
  }

  async run(db: Kysely<Tables>, records: readonly Item[]): Promise<readonly Row[]> {
    const all: Row[] = [];
    for (const part of inParts(records)) {
      const { rows } = await db.executeQuery(this.#query(db, part));
      all.push(...rows);
    }
    return all;
  }

  /** The values of a record stand in the order of its columns, which is the same for all. */
  #query(db: Kysely<Tables>, records: readonly Item[]): CompiledQuery<Row> {
    const text = this.#texts.get(records.length) ?? this.#build(db, records).compile().sql;
    this.#texts.set(records.length, text);
    return CompiledQuery.raw(
      text,
      records.flatMap((record) => Object.values(record)),
    );
  }
}

/** Inserts rows of the ledger. */
export class RowInsert {
  readonly #insert = new PreparedParts<LedgerRecord, { readonly id: string }>((db, records) =>
    db
      .insertInto('ledger')
      .values(records)
      .onConflict((conflict) => conflict.doNothing())
      .returning('id'),
  );

  /** The ids of those that the table did not have: that is what the database says, so that none counts twice. */
  async run(db: Kysely<Tables>, records: readonly LedgerRecord[]): Promise<Set<string>> {
    const rows = await this.#insert.run(db, records);
    return new Set(rows.map(({ id }) => id));
  }
}

function* inParts<Item>(records: readonly Item[]): Generator<readonly Item[]> {
  for (let at = 0; at < records.length;) {
    const left = records.length - at;
    const size = partSizes.find((some) => some <= left) ?? 1;
    yield records.slice(at, at + size);
    at += size;
  }
}
