import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { count } from '../../format/numbers.js';
import { Button } from '../button.js';
import { isSortable, type Column, type Sort, readSort, writeSort } from './column.js';
import { Icon } from '../icon.js';

export interface TableProps<Row> {
  /** Name for screen readers. */
  readonly label: string;
  readonly class?: string;
  readonly columns: readonly Column<Row>[];
  /** Rows in their order: `useSort` sorts them. */
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly sort?: Sort | undefined;
  readonly onSort?: (sort: Sort) => void;
  readonly rowProps?: (row: Row) => RowProps;
  /** Rows rendered at first; a button shows as many more. Infinity: all. Default 100. */
  readonly pageSize?: number;
  /** Footer in the card of the table. */
  readonly children?: ComponentChildren;
}

interface RowProps {
  readonly class?: string;
  readonly onClick?: (event: MouseEvent) => void;
}

/**
 * Table with the first column as head of each row; its rows are cards in a narrow window. Columns with a `value` have
 * sort buttons if `onSort` is given.
 */
export function Table<Row>(props: TableProps<Row>) {
  const {
    label,
    class: className = '',
    columns,
    rows,
    keyOf,
    sort,
    onSort,
    rowProps,
    pageSize = 100,
  } = props;
  const [shown, setShown] = useState(pageSize);
  useEffect(() => setShown(pageSize), [sort?.by, sort?.isDescending, pageSize]);
  return (
    <>
      {onSort && columns.some((column) => isSortable(column)) && (
        <SortSelect columns={columns} sort={sort} onSort={onSort} />
      )}
      <div class="card table-card">
        <table class={`table cards-when-narrow ${className}`} aria-label={label}>
          <TableHead columns={columns} sort={sort} onSort={onSort} />
          <tbody>
            {rows.slice(0, shown).map((row) => (
              <tr key={keyOf(row)} {...rowProps?.(row)}>
                {columns.map((column, index) => (
                  <Cell key={column.id} column={column} row={row} isHead={index === 0} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {props.children}
      </div>
      {rows.length > shown && (
        <p class="more-rows">
          <Button onClick={() => setShown(shown + pageSize)}>
            {`Show ${count(Math.min(pageSize, rows.length - shown))} more of ${count(rows.length - shown)}`}
          </Button>
        </p>
      )}
    </>
  );
}

interface CellProps<Row> {
  readonly column: Column<Row>;
  readonly row: Row;
  readonly isHead: boolean;
}

function Cell<Row>({ column, row, isHead }: CellProps<Row>) {
  const { cell, head, isFigure, isHeadHidden, class: className = '' } = column;
  const attributes = {
    class: `${isFigure ? 'num ' : ''}${className}` || undefined,
    ...(!isHeadHidden && { 'data-label': head }),
  };
  return isHead ? (
    <th scope="row" {...attributes}>
      {cell(row)}
    </th>
  ) : (
    <td {...attributes}>{cell(row)}</td>
  );
}

interface SortSelectProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly sort: Sort | undefined;
  readonly onSort: (sort: Sort) => void;
}

/** Choice of the order for rows shown as cards, without the heads and their buttons. */
function SortSelect<Row>({ columns, sort, onSort }: SortSelectProps<Row>) {
  const sortable = columns.filter((column) => isSortable(column));
  return (
    <p class="sort-select">
      <span aria-hidden="true">Sort by</span>
      <select
        class="input"
        aria-label="Sort by"
        value={sort ? writeSort(sort) : ''}
        onChange={(event) => {
          const chosen = readSort(event.currentTarget.value, sortable);
          if (chosen) onSort(chosen);
        }}
      >
        {!sort && <option value="">as it comes</option>}
        {sortable.flatMap(({ id: by, head, isFigure, orders = isFigure ? figureOrders : nameOrders }) =>
          [false, true].map((isDescending) => (
            <option key={writeSort({ by, isDescending })} value={writeSort({ by, isDescending })}>
              {`${head}, ${orders[isDescending ? 1 : 0]}`}
            </option>
          )),
        )}
      </select>
    </p>
  );
}

const figureOrders = ['lowest first', 'highest first'] as const;
const nameOrders = ['A to Z', 'Z to A'] as const;

interface TableHeadProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly sort: Sort | undefined;
  readonly onSort: ((sort: Sort) => void) | undefined;
}

function TableHead<Row>({ columns, sort, onSort }: TableHeadProps<Row>) {
  return (
    <thead>
      <tr>
        {columns.map((column) => (
          <Head
            key={column.id}
            column={column}
            sort={sort}
            onSort={isSortable(column) ? onSort : undefined}
          />
        ))}
      </tr>
    </thead>
  );
}

interface HeadProps<Row> extends Omit<TableHeadProps<Row>, 'columns'> {
  readonly column: Column<Row>;
}

function Head<Row>({ column, sort, onSort }: HeadProps<Row>) {
  const { id, head, isFigure = false, isHeadHidden } = column;
  const className = `column-${id}${isFigure ? ' num' : ''}`;
  const isSorted = sort?.by === id;
  if (!onSort)
    return (
      <th scope="col" class={className}>
        {isHeadHidden ? <span class="sr-only">{head}</span> : head}
      </th>
    );
  const order = isSorted && sort.isDescending ? 'descending' : 'ascending';
  return (
    <th scope="col" class={className} aria-sort={isSorted ? order : undefined}>
      <button
        type="button"
        class={isSorted ? 'sort sort-on' : 'sort'}
        onClick={() => onSort({ by: id, isDescending: isSorted ? !sort.isDescending : isFigure })}
      >
        <span>{head}</span>
        <Icon name={!isSorted ? 'sort' : sort.isDescending ? 'down' : 'up'} size={13} />
      </button>
    </th>
  );
}
