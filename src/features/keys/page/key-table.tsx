import { useMemo } from 'preact/hooks';
import { useSearch } from '../../../console/web/state/use-search.js';
import { SearchField } from '../../../console/web/ui/search-field.js';
import { ExportButtons } from '../../../console/web/ui/table/export-buttons.js';
import { Table } from '../../../console/web/ui/table/table.js';
import { useSort } from '../../../console/web/ui/table/use-sort.js';
import type { Key } from './api.js';
import { keyColumns, type KeyTableProps } from './key-columns.js';

/** Lists of active and revoked keys with one search; the revoked ones are folded away, as the ledger refers to them. */
export function KeyLists({ keys, ...rest }: KeyTableProps) {
  const { usage, teams } = rest;
  const columns = useMemo(() => keyColumns(rest), [usage, teams]);
  const found = useSearch(keys, ({ name, note, last4, id }) => `${name} ${last4} ${note ?? ''} ${id}`);
  const { sort, rows, onSort } = useSort(found, columns);
  const active = rows.filter((key) => key.revoked_at === null);
  const revoked = rows.filter((key) => key.revoked_at !== null);
  const shared = { class: 'keys', columns, keyOf: ({ id }: Key) => id, sort, onSort, pageSize: 50 };
  return (
    <>
      <div class="table-tools">
        <SearchField label="Search keys" />
        <span class="end">
          <ExportButtons name="keys" columns={columns} rows={rows} />
        </span>
      </div>
      {active.length > 0 ? (
        <Table label="Active keys" rows={active} {...shared} />
      ) : (
        <p class="card dim">
          {found.length < keys.length ? 'No active key is like that.' : 'Every key is revoked.'}
        </p>
      )}
      {revoked.length > 0 && (
        <details class="folded">
          <summary>Revoked keys ({revoked.length})</summary>
          <Table label="Revoked keys" rows={revoked} {...shared} />
        </details>
      )}
    </>
  );
}
