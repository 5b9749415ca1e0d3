import type { LedgerRequest } from '../../api/types.js';
import { hrefOf, navigate } from '../../state/location.js';
import { Table } from '../../ui/table/table.js';
import { useSort } from '../../ui/table/use-sort.js';
import { pathOfRequest, requestColumns } from './request-columns.js';

interface RequestTableProps {
  /** Newest first. */
  readonly rows: readonly LedgerRequest[];
  /** Ids of the requests that arrived while the page was open. */
  readonly fresh: ReadonlySet<string>;
}

export function RequestTable({ rows, fresh }: RequestTableProps) {
  const sorting = useSort(rows, requestColumns, { initial: { by: 'time', isDescending: true } });
  return (
    <Table
      label="Requests"
      class="requests"
      columns={requestColumns}
      rows={sorting.rows}
      keyOf={({ id }) => id}
      sort={sorting.sort}
      onSort={sorting.onSort}
      pageSize={Infinity}
      rowProps={(row) => ({
        class: `clickable${fresh.has(row.id) ? ' fresh' : ''}`,
        onClick: (event) => open(event, row),
      })}
    />
  );
}

/** Opens the request of a row that was clicked; keyboard users have the link in its first cell. */
function open(event: MouseEvent, row: LedgerRequest): void {
  const to = pathOfRequest(row);
  const isOnLink = event.target instanceof Element && event.target.closest('a');
  if (isOnLink || window.getSelection()?.toString()) return;
  if (event.metaKey || event.ctrlKey) window.open(hrefOf(to), '_blank');
  else navigate(to);
}
