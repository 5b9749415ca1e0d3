import type { ComponentChildren } from 'preact';

/** Value of a cell, for sorting and for exports; null: none, sorted last in both directions. */
export type CellValue = string | number | null;

/** One column of a table. */
export interface Column<Row> {
  /** Name in the URL, in the class `column-ID`, and of the field in exports. */
  readonly id: string;
  readonly head: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Value to sort by and to export; a column without one is neither. */
  readonly value?: (row: Row) => CellValue;
  /** False: exported only. */
  readonly isSortable?: boolean;
  /** Aligned to the right, with the largest first when sorted first. */
  readonly isFigure?: boolean;
  /** Words for the order, ascending first; default: A to Z, or lowest first for a figure. */
  readonly orders?: readonly [ascending: string, descending: string];
  /** Head for screen readers only, as of a column of buttons. */
  readonly isHeadHidden?: boolean;
  readonly class?: string;
}

export interface Sort {
  /** Id of a column. */
  readonly by: string;
  readonly isDescending: boolean;
}

export function isSortable({ value, isSortable: may = true }: Column<never>): boolean {
  return value !== undefined && may;
}

/** Sort of a query parameter: `name`, or `-name` for descending; undefined if no column of that name sorts. */
export function readSort(
  text: string | null,
  columns: readonly Pick<Column<never>, 'id' | 'value' | 'isSortable'>[],
): Sort | undefined {
  const by = text?.replace(/^-/, '');
  const found = columns.some((column) => column.id === by && isSortable(column as Column<never>));
  return by !== undefined && found ? { by, isDescending: text?.startsWith('-') === true } : undefined;
}

export function writeSort({ by, isDescending }: Sort): string {
  return `${isDescending ? '-' : ''}${by}`;
}

/** Rows in the order of a sort; rows of equal value keep their order. */
export function sorted<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sort: Sort | undefined,
): readonly Row[] {
  const valueOf = columns.find(({ id }) => id === sort?.by)?.value;
  if (!sort || !valueOf) return rows;
  const direction = sort.isDescending ? -1 : 1;
  return rows
    .map((row) => ({ row, value: valueOf(row) }))
    .toSorted((a, b) => byNull(a.value, b.value) || direction * compare(a.value, b.value))
    .map(({ row }) => row);
}

function byNull(a: CellValue, b: CellValue): number {
  return Number(a === null) - Number(b === null);
}

const names = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

function compare(a: CellValue, b: CellValue): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return names.compare(String(a ?? ''), String(b ?? ''));
}
