import { Readable } from 'node:stream';
import { isRecord } from '../kit/schema/record.js';
import { Type } from '../plugin/index.js';
import type { OperatorContext } from './route.js';

/** Form of an answer. */
export const As = Type.Enum(['json', 'csv'], { description: 'Default: as the `accept` header says.' });

/** Column of a table: the path of a field in its records. */
export type Column = readonly string[];

/** Columns for the fields of a schema of objects; lists and maps are a column each. */
export function columnsOf(schema: unknown, path: Column = []): readonly Column[] {
  const { properties, anyOf } = Object(schema) as { properties?: unknown; anyOf?: unknown }; // any schema
  const branches: readonly unknown[] = Array.isArray(anyOf) ? anyOf : [];
  const inner = properties ?? branches.map((branch) => (Object(branch) as Schema).properties).find(isRecord);
  if (!isRecord(inner)) return [path];
  return Object.entries(inner).flatMap(([name, field]) => columnsOf(field, [...path, name]));
}

interface Schema {
  readonly properties?: unknown;
}

/** True for a caller that asks for CSV: by `as=csv`, or by its `accept` header. */
export function wantsCsv(ctx: Pick<OperatorContext, 'accepts'>, as: 'json' | 'csv' | undefined): boolean {
  return as === undefined ? ctx.accepts('application/json', 'text/csv') === 'text/csv' : as === 'csv';
}

/** Answers with a file of CSV (RFC 4180): a line of names, then one for each record, a chunk for each batch. */
export function csvAnswer(
  ctx: OperatorContext,
  name: string,
  columns: readonly Column[],
  batches: AsyncIterable<readonly object[]>,
): Readable {
  ctx.type = 'text/csv; charset=utf-8';
  ctx.set('content-disposition', `attachment; filename="${name}.csv"`);
  return Readable.from(chunksOf(columns, batches), { objectMode: false });
}

async function* chunksOf(
  columns: readonly Column[],
  batches: AsyncIterable<readonly object[]>,
): AsyncGenerator<string> {
  yield lineOf(columns.map((path) => path.join('_')));
  for await (const records of batches)
    if (records.length > 0)
      yield records.map((record) => lineOf(columns.map((path) => valueAt(record, path)))).join('');
}

function lineOf(values: readonly unknown[]): string {
  return `${values.map(cellOf).join(',')}\r\n`;
}

function valueAt(record: object, path: Column): unknown {
  let value: unknown = record;
  for (const name of path) value = isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}

/** Cell of a value; unknown ones are empty. */
function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return plainNumber(value);
  if (typeof value === 'string') return quoted(harmless(value));
  return quoted(JSON.stringify(value));
}

/** Without an exponent, which not every program reads: amounts have at most nine decimals. */
function plainNumber(value: number): string {
  const text = String(value);
  return text.includes('e') ? value.toFixed(9).replace(/\.?0+$/, '') : text;
}

/** Text that no spreadsheet takes for a formula: callers choose names of models and request ids. */
function harmless(text: string): string {
  return /^[\s]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/.test(text) ? `'${text}` : text;
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
