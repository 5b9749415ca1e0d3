import type { LedgerRequest } from '../../../console/web/api/ledger.js';
import { hrefOf, navigate, pathOfRequest } from '../../../console/web/state/location.js';
import { counted } from '../../../console/web/format/numbers.js';
import { ExportButtons } from '../../../console/web/ui/table/export-buttons.js';
import { Table } from '../../../console/web/ui/table/table.js';
import { useSort } from '../../../console/web/ui/table/use-sort.js';
import { exportedColumns, requestColumns } from './request-columns.js';

interface RequestTableProps {
  /** Newest first. */
  readonly rows: readonly LedgerRequest[];
  /** True if the ledger has further ones, which are not in the order of a column. */
  readonly hasMore: boolean;
  /** Ids of the requests that arrived while the page was open. */
  readonly fresh: ReadonlySet<string>;
}

export function RequestTable({ rows, hasMore, fresh }: RequestTableProps) {
  const sorting = useSort(rows, requestColumns, { initial: { by: 'time', isDescending: true } });
  const isByTime = sorting.sort?.by === 'time';
  return (
    <>
      <div class="table-tools">
        <p class="hint" role="status">
          {counted(rows.length, 'request')} shown
          {hasMore && (isByTime ? ', the ledger has more' : ', sorted among these: the ledger has more')}
        </p>
        <span class="end">
          <ExportButtons name="requests" columns={exportedColumns} rows={sorting.rows} />
        </span>
      </div>
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
    </>
  );
}

/** Opens the request of a row that was clicked; keyboard users have the link in its first cell. */
function open(event: MouseEvent, row: LedgerRequest): void {
  const to = pathOfRequest(row.id);
  const isOnLink = event.target instanceof Element && event.target.closest('a');
  if (isOnLink || window.getSelection()?.toString()) return;
  if (event.metaKey || event.ctrlKey) window.open(hrefOf(to), '_blank');
  else navigate(to);
}
