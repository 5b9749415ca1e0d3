import { useMemo } from 'preact/hooks';
import { changeQuery, usePlace } from '../../state/location.js';
import { readSort, sorted, writeSort, type Column, type Sort } from './column.js';

export interface Sorting<Row> {
  readonly sort: Sort | undefined;
  readonly rows: readonly Row[];
  readonly onSort: (sort: Sort) => void;
}

interface SortOptions {
  /** Sort without one in the URL; default: the order of `rows`. */
  readonly initial?: Sort;
  /** Query parameter; two tables of a page have one each. Default `sort`. */
  readonly parameter?: string;
}

/** Rows in the order that the URL names. */
export function useSort<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { initial, parameter = 'sort' }: SortOptions = {},
): Sorting<Row> {
  const text = usePlace().query.get(parameter);
  const sort = readSort(text, columns) ?? initial;
  const key = sort && writeSort(sort);
  const ordered = useMemo(() => sorted(rows, columns, sort), [rows, columns, key]);
  return {
    sort,
    rows: ordered,
    onSort: (next) => changeQuery({ [parameter]: writeSort(next) }),
  };
}
