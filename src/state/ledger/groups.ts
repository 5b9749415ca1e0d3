import type { UsageGroup } from '../../plugin/core.js';
import { fields, type ColumnName, type Columns, type LedgerRow } from './columns.js';

/** Group that each row has exactly one of. */
export type ColumnGroup = Extract<Columns[ColumnName], { readonly group: string }>['group'];

/** Group with its column, and its name in a row: '' without one. */
interface RowGroup {
  readonly group: ColumnGroup;
  /** Name without hourly sums, which has the rest of all requests. */
  readonly rest?: string;
  readonly column: string;
  of(this: void, row: LedgerRow): string;
}

/** Groups that the hours are summed by, each on its own; those of `rest` only by their other names. */
export const rowGroups: readonly RowGroup[] = fields.flatMap(([name, { group, rest, columns }]) =>
  group === undefined
    ? []
    : columns.map((column) => ({
        group: group as ColumnGroup, // as in the table
        column,
        ...(rest !== undefined && { rest }),
        of: (row) => (row[name] as string | undefined) ?? rest ?? '', // groups are texts
      })),
);

/** Name of a group without hourly sums, which has the rest of all requests; undefined if each name has sums. */
export function restOf(kind: UsageGroup): string | undefined {
  return rowGroups.find(({ group }) => group === kind)?.rest;
}

const columnsByGroup = rowGroups.map(({ group, column }) => [group, column] as const);

/** Column of a group, in the rows. */
export const groupColumnOf = Object.fromEntries(columnsByGroup) as Readonly<Record<ColumnGroup, string>>;

/** Groups of the hours, by the field of a filter. */
export const groupOfField: ReadonlyMap<string, UsageGroup> = new Map<string, UsageGroup>([
  ...fields.flatMap(([name, { group }]) =>
    group === undefined ? [] : [[name, group as ColumnGroup] as const],
  ),
  ['cause', 'cause'],
]);

/** Requested model of a row; '' without one. */
export function askedModelOf({ askedModel, model = '' }: Pick<LedgerRow, 'askedModel' | 'model'>): string {
  return askedModel ?? model;
}
