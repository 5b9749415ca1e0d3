import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Tables } from '../tables/tables.js';

interface InsertParts<Item> {
  readonly table: keyof Tables;
  readonly columns: readonly string[];
  /** SQL after the values. */
  readonly tail: RawBuilder<unknown>;
  /** Adds an item's values for the columns, in their order. */
  readonly write: (item: Item, values: unknown[]) => void;
}

/** One INSERT statement with its parameters. */
export interface InsertPart {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Numbers of rows of a statement: few, as each has its own prepared text. */
const partSizes = [100, 10, 1] as const;

/** Inserts any number of items, in parts. Caches the SQL of each size, as it is slow to build. */
export class PreparedInsert<Item> {
  readonly #parts: InsertParts<Item>;
  /** Cached by the number of items. */
  readonly #texts = new Map<number, string>();

  constructor(parts: InsertParts<Item>) {
    this.#parts = parts;
  }

  of(db: Kysely<Tables>, items: readonly Item[]): readonly InsertPart[] {
    const parts: InsertPart[] = [];
    for (let at = 0; at < items.length;) {
      const left = items.length - at;
      const size = partSizes.find((some) => some <= left) ?? 1;
      parts.push({ sql: this.#textFor(db, size), parameters: this.#valuesOf(items, at, at + size) });
      at += size;
    }
    return parts;
  }

  #valuesOf(items: readonly Item[], from: number, to: number): readonly unknown[] {
    const values: unknown[] = [];
    for (const item of items.slice(from, to)) this.#parts.write(item, values);
    return values;
  }

  #textFor(db: Kysely<Tables>, size: number): string {
    const text = this.#texts.get(size) ?? this.#build(size).compile(db).sql;
    this.#texts.set(size, text);
    return text;
  }

  #build(size: number): RawBuilder<unknown> {
    const { table, columns, tail } = this.#parts;
    const row = sql`(${sql.join(columns.map(() => sql`${null}`))})`; // the value is bound later
    const names = sql.join(columns.map((column) => sql.ref(column)));
    const rows = sql.join(Array.from({ length: size }, () => row));
    return sql`insert into ${sql.table(table)} (${names}) values ${rows} ${tail}`;
  }
}
