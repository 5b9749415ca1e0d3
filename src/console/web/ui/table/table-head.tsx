import { Icon } from '../icon.js';
import { isSortable, type Column, type Sort } from './column.js';

interface TableHeadProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly sort: Sort | undefined;
  readonly onSort: ((sort: Sort) => void) | undefined;
}

export function TableHead<Row>({ columns, sort, onSort }: TableHeadProps<Row>) {
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
