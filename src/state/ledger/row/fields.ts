import type { TSchema } from 'typebox';
import { Type } from '../../../plugin/index.js';

/** One fact of a ledger row: its columns, their conversion, and its other uses. */
export interface Field<Value = unknown, Stored extends object = object, Schema extends TSchema = TSchema> {
  readonly columns: readonly string[];
  /** True if a row may lack it. */
  readonly isOptional?: boolean;
  /** Schema of a value, with its description. */
  readonly schema: Schema;
  /** Adds one value for each column. */
  write(this: void, value: Value, values: unknown[]): void;
  /** Undefined if the row lacks it. */
  read(this: void, stored: Stored): Value;
}

/** Uses of a field beside its row. */
export interface FieldUses {
  readonly filter?: FieldFilter;
  /** Group of the hourly sums: each row has exactly one. */
  readonly group?: string;
  /** Name of the group of most rows, which has no hourly sums of its own: it has the rest of all requests. */
  readonly rest?: string;
}

/** Filter by a field. Its column has an index `ledger_by_COLUMN`, which ends in the order of pages. */
export interface FieldFilter {
  /** Condition of a partial index, which must be repeated in a query. */
  readonly only?: string;
  /** Value of most rows, which the index lacks. */
  readonly common?: number | boolean | string;
  /** Member of the value that is compared, with its column; the filter has its name. */
  readonly member?: { readonly name: string; readonly column: string };
}

type Cell<Name extends string, Kept> = { readonly [Column in Name]: Kept };

type TextSchema = ReturnType<typeof Type.String>;
type NumberSchema = ReturnType<typeof Type.Number>;

export function text<Name extends string>(
  name: Name,
  description: string,
): Field<string, Cell<Name, string>, TextSchema> {
  return plain(name, Type.String({ description }));
}

/** Text with a default, for rows of an older version in a spool. */
export function textOr<Name extends string>(
  fallback: string,
  name: Name,
  description: string,
): Field<string, Cell<Name, string>, TextSchema> {
  return {
    ...plain<Name, string, TextSchema>(name, Type.String({ description })),
    write: (value: string | undefined, values) => void values.push(value ?? fallback),
  };
}

/** Text whose column has '' if the row lacks it. */
export function maybeName<Name extends string>(
  name: Name,
  description: string,
): Field<string | undefined, Cell<Name, string>, TextSchema> {
  return {
    columns: [name],
    isOptional: true,
    schema: Type.String({ description }),
    write: (value, values) => void values.push(value ?? ''),
    read: ({ [name]: kept }) => (kept === '' ? undefined : kept),
  };
}

export function maybeText<Name extends string>(
  name: Name,
  description: string,
): Field<string | undefined, Cell<Name, string | null>, TextSchema> {
  return nullable(name, Type.String({ description }));
}

export function integer<Name extends string>(
  name: Name,
  description: string,
): Field<number, Cell<Name, number>, ReturnType<typeof Type.Integer>> {
  return plain(name, Type.Integer({ minimum: 0, description }));
}

/** Milliseconds. */
export function ms<Name extends string>(
  name: Name,
  description: string,
): Field<number, Cell<Name, number>, NumberSchema> {
  return plain(name, Type.Number({ description }));
}

export function maybeMs<Name extends string>(
  name: Name,
  description: string,
): Field<number | undefined, Cell<Name, number | null>, NumberSchema> {
  return nullable(name, Type.Number({ description }));
}

/** Boolean, kept as 0 or 1. */
export function flag<Name extends string>(
  name: Name,
  description: string,
): Field<boolean, Cell<Name, number>, ReturnType<typeof Type.Boolean>> {
  return {
    columns: [name],
    schema: Type.Boolean({ description }),
    write: (value, values) => void values.push(value ? 1 : 0),
    read: ({ [name]: kept }) => kept === 1,
  };
}

/** True or absent, kept as 1 or null. */
export function maybeTrue<Name extends string>(
  name: Name,
  description: string,
): Field<boolean | undefined, Cell<Name, number | null>, ReturnType<typeof Type.Boolean>> {
  return {
    columns: [name],
    isOptional: true,
    schema: Type.Boolean({ description }),
    write: (value, values) => void values.push(value ? 1 : null),
    read: ({ [name]: kept }) => (kept === 1 ? true : undefined),
  };
}

/** Written form of a value. */
export interface JsonForm<Value> {
  write(this: void, value: Value): string;
  read(this: void, written: string): Value;
}

/** Value that is kept as JSON, and may be left out when reading. */
export function maybeJson<Name extends string, Value, Schema extends TSchema>(
  name: Name,
  schema: Schema,
  { write, read }: JsonForm<Value>,
): Field<Value | undefined, Cell<Name, string | null>, Schema> {
  return {
    columns: [name],
    isOptional: true,
    schema,
    write: (value, values) => void values.push(value === undefined ? null : write(value)),
    read: ({ [name]: kept }) => (typeof kept === 'string' ? read(kept) : undefined),
  };
}

function plain<Name extends string, Value, Schema extends TSchema>(
  name: Name,
  schema: Schema,
): Field<Value, Cell<Name, Value>, Schema> {
  return {
    columns: [name],
    schema,
    write: (value, values) => void values.push(value),
    read: (stored) => stored[name],
  };
}

function nullable<Name extends string, Value, Schema extends TSchema>(
  name: Name,
  schema: Schema,
): Field<Value | undefined, Cell<Name, Value | null>, Schema> {
  return {
    columns: [name],
    isOptional: true,
    schema,
    write: (value, values) => void values.push(value ?? null),
    read: (stored) => stored[name] ?? undefined,
  };
}
