import { isSortable, readSort, writeSort, type Column, type Sort } from './column.js';

interface SortSelectProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly sort: Sort | undefined;
  readonly onSort: (sort: Sort) => void;
}

/** Choice of the order where rows are cards and the heads with their buttons are hidden. */
export function SortSelect<Row>({ columns, sort, onSort }: SortSelectProps<Row>) {
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
