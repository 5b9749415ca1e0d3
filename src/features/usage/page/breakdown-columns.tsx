import { compact, count, counted, duration, share } from '../../../console/web/format/numbers.js';
import { usd } from '../../../console/web/format/usd.js';
import { withScope } from '../../../console/web/scope/scope.js';
import { usePlace } from '../../../console/web/state/location.js';
import { Link } from '../../../console/web/ui/link.js';
import type { Column } from '../../../console/web/ui/table/column.js';
import type { Grouping } from './grouping.js';
import type { Totals } from './totals.js';

export interface GroupRow extends Totals {
  readonly group: string;
  readonly name: string;
}

const requests: Column<GroupRow> = {
  id: 'requests',
  head: 'Requests',
  isFigure: true,
  value: (row) => row.requests,
  cell: (row) => count(row.requests),
};

/** Columns of a table of groups, each linked to its requests if the ledger can be filtered by it. */
export function groupColumns({ by, tag }: Grouping): readonly Column<GroupRow>[] {
  return [
    {
      id: 'name',
      head: tag ?? headOf[by] ?? by,
      value: ({ name }) => name,
      cell: (row) => <GroupName by={by} row={row} />,
    },
    requests,
    {
      id: 'failed',
      head: 'Failed',
      isFigure: true,
      value: ({ errors }) => errors,
      cell: ({ errors, requests: all }) => (
        <>
          {count(errors)} <span class="dim">· {share(errors, all)}</span>
        </>
      ),
    },
    tokenColumn('input', 'Tokens in', ({ input }) => input),
    tokenColumn('output', 'Tokens out', ({ output }) => output),
    {
      id: 'cached',
      head: 'Cache read',
      isFigure: true,
      value: ({ cacheRead, input }) => (input > 0 ? cacheRead / input : null),
      cell: ({ cacheRead, input }) => (input > 0 ? share(cacheRead, input) : <None />),
    },
    costColumn('Cost'),
    {
      id: 'first-event',
      head: 'First event',
      isFigure: true,
      value: ({ firstEventMs }) => firstEventMs,
      cell: ({ firstEventMs }) => (firstEventMs === null ? <None /> : duration(firstEventMs)),
    },
  ];
}

/** Columns of stages' additions to requests. */
export const additionColumns: readonly Column<GroupRow>[] = [
  {
    id: 'name',
    head: 'Stage',
    class: 'mono',
    value: ({ name }) => name,
    cell: ({ name }) => name,
  },
  { ...requests, head: 'Requests added to' },
  tokenColumn('input', 'Tokens in, added', ({ input }) => input),
  tokenColumn('output', 'Tokens out, added', ({ output }) => output),
  costColumn('Cost, added'),
];

const headOf: Readonly<Record<string, string>> = {
  key: 'Key',
  team: 'Team',
  slot: 'Slot',
  model: 'Model',
  format: 'Format',
  pipeline: 'Pipeline',
  label: 'Call of a stage',
};

function tokenColumn(id: string, head: string, of: (row: GroupRow) => number): Column<GroupRow> {
  return {
    id,
    head,
    isFigure: true,
    value: of,
    cell: (row) => <span title={count(of(row))}>{compact(of(row))}</span>,
  };
}

/** Billed cost; a sum without the requests of unknown cost is marked. */
function costColumn(head: string): Column<GroupRow> {
  return {
    id: 'cost-usd',
    head,
    isFigure: true,
    value: ({ costUsd }) => costUsd,
    cell: ({ costUsd, unpriced }) =>
      costUsd === null ? (
        <span class="dim">unknown</span>
      ) : (
        <span title={unpriced > 0 ? `${counted(unpriced, 'request')} without a price` : undefined}>
          {usd(costUsd)}
          {unpriced > 0 && <span class="dim"> +</span>}
        </span>
      ),
  };
}

function GroupName({ by, row }: { readonly by: Grouping['by']; readonly row: GroupRow }) {
  const place = usePlace();
  const { group, name } = row;
  if (!group) return <span class="dim">{by === 'key' ? 'Master key or none' : 'none'}</span>;
  if (by === 'tag')
    return (
      <span class="name" title={name}>
        {name}
      </span>
    );
  return (
    <Link to={withScope('/requests', place, { [by]: group })} class="name" title={name}>
      {name}
    </Link>
  );
}

function None() {
  return <span class="dim">–</span>;
}
