import { useMemo } from 'preact/hooks';
import type { UsageBucket } from '../../../console/web/api/ledger.js';
import type { Scope } from '../../../console/web/scope/scope.js';
import { changeQuery, usePlace } from '../../../console/web/state/location.js';
import type { Resource } from '../../../console/web/state/use-resource.js';
import { useSearch } from '../../../console/web/state/use-search.js';
import { CardSkeleton, Loaded } from '../../../console/web/ui/loaded.js';
import { SearchField } from '../../../console/web/ui/input/search-field.js';
import { Select } from '../../../console/web/ui/input/select.js';
import { ExportButtons } from '../../../console/web/ui/table/export-buttons.js';
import { Table } from '../../../console/web/ui/table/table.js';
import { useSort } from '../../../console/web/ui/table/use-sort.js';
import { additionColumns, groupColumns, type GroupRow } from './breakdown-columns.js';
import { groupName } from '../../../console/web/format/words.js';
import { breakdownOptions, groupingOf, type Grouping } from './grouping.js';
import { mergeGroups } from './totals.js';
import { useTotals } from './use-overview.js';

/** Rows of the breakdown table, as in the URL. */
export interface BreakdownRows {
  readonly option: string;
  readonly grouping: Grouping;
  readonly totals: Resource<readonly UsageBucket[]>;
}

/** Loads the rows in parallel with the charts. */
export function useBreakdown(scope: Scope): BreakdownRows {
  const option = usePlace().query.get('table') ?? 'key';
  const grouping = groupingOf(option) ?? { by: 'key' };
  return { option, grouping, totals: useTotals(scope, grouping) };
}

interface BreakdownProps {
  readonly rows: BreakdownRows;
  /** Usage tags in this time. */
  readonly tags: readonly string[];
}

/** Table of the usage by group; the group, the order and the search are in the URL. */
export function Breakdown({ rows: { option, grouping, totals }, tags }: BreakdownProps) {
  return (
    <section class="breakdown" aria-label="Breakdown">
      <header class="table-tools">
        <h2>Breakdown</h2>
        <span class="breakdown-by">
          <Select
            label="Rows"
            value={option}
            options={breakdownOptions(tags)}
            onValue={(value) => changeQuery({ table: value, sort: null, q: null }, { push: true })}
          />
        </span>
        <Rows buckets={totals.data ?? noBuckets} grouping={grouping} isTools />
      </header>
      <Loaded resource={totals} skeleton={<CardSkeleton rows={6} height={32} />}>
        {(buckets) => <Rows buckets={buckets} grouping={grouping} />}
      </Loaded>
    </section>
  );
}

const noBuckets: readonly UsageBucket[] = [];

interface RowsProps {
  readonly buckets: readonly UsageBucket[];
  readonly grouping: Grouping;
  /** The search and the export instead of the table. */
  readonly isTools?: boolean;
}

function Rows({ buckets, grouping, isTools = false }: RowsProps) {
  const { by, tag } = grouping;
  const all = useMemo(() => rowsOf(buckets), [buckets]);
  const columns = useMemo(() => (by === 'stage' ? additionColumns : groupColumns(grouping)), [by, tag]);
  const found = useSearch(all, ({ name }) => name);
  const sorting = useSort(found, columns, { initial: { by: 'requests', isDescending: true } });
  if (isTools)
    return (
      <>
        <SearchField label="Search the rows" />
        <span class="end">
          <ExportButtons name={`usage-by-${tag ?? by}`} columns={columns} rows={sorting.rows} />
        </span>
      </>
    );
  if (found.length === 0)
    return <p class="card dim">{all.length === 0 ? 'Nothing in this time.' : 'No row matches.'}</p>;
  return (
    <Table
      label="Breakdown"
      class="breakdown-table"
      columns={columns}
      rows={sorting.rows}
      keyOf={({ group }) => group}
      sort={sorting.sort}
      onSort={sorting.onSort}
      pageSize={20}
    />
  );
}

function rowsOf(buckets: readonly UsageBucket[]): readonly GroupRow[] {
  return mergeGroups(buckets).map((total) => ({
    ...total,
    group: total.group ?? '',
    name: groupName(total),
  }));
}
