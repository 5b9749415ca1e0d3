import type { LedgerFilter } from '../../plugin/core.js';
import { fields, type ColumnName, type LedgerRow } from './columns.js';
import type { FieldFilter } from './row/fields.js';

/** Possible condition of a filter, with its column. */
export interface FilterColumn extends Pick<FieldFilter, 'only' | 'common'> {
  readonly name: Exclude<keyof LedgerFilter, 'fromMs' | 'toMs'>;
  readonly column: string;
  of(this: void, row: LedgerRow): unknown;
}

/** Conditions of a filter, except for its range of time. */
export const filterColumns: readonly FilterColumn[] = fields.flatMap(([field, { filter, rest, columns }]) => {
  if (!filter) return [];
  const { member, ...index } = filter;
  const { name = field, column = columns[0] ?? '' } = member ?? {};
  return [
    {
      ...index,
      name: name as FilterColumn['name'],
      column,
      of: valueOf(field, { member: member?.name, rest }),
    },
  ]; // as in the table
});

interface ComparedValue {
  readonly member: string | undefined;
  /** Value of a row that lacks the field. */
  readonly rest: string | undefined;
}

function valueOf(field: ColumnName, { member, rest }: ComparedValue): FilterColumn['of'] {
  if (member === undefined) return (row) => row[field] ?? rest;
  return (row) => (row[field] as Readonly<Record<string, unknown>> | undefined)?.[member]; // a field with members
}

/** True if a row matches every condition of a filter. */
export function matches(row: LedgerRow, filter: LedgerFilter): boolean {
  const { fromMs = 0, toMs = Infinity } = filter;
  return (
    row.atMs >= fromMs &&
    row.atMs < toMs &&
    filterColumns.every(({ name, of }) => filter[name] === undefined || filter[name] === of(row))
  );
}
