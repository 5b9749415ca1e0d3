import { causeWords } from '../../../console/web/format/cache-words.js';
import { compact, count } from '../../../console/web/format/numbers.js';
import { usd } from '../../../console/web/format/usd.js';
import { Link } from '../../../console/web/ui/link.js';
import type { Column } from '../../../console/web/ui/table/column.js';
import { Table } from '../../../console/web/ui/table/table.js';
import { useSort } from '../../../console/web/ui/table/use-sort.js';
import type { CauseSum } from './use-cache.js';

/** Causes of lost cache with their cost and their fix. */
export function CauseTable({ causes }: { readonly causes: readonly CauseSum[] }) {
  const initial = { by: 'tokens', isDescending: true };
  const { rows, sort, onSort } = useSort(causes, columns, { initial, parameter: 'causes' });
  return (
    <Table
      label="Causes"
      class="causes"
      columns={columns}
      rows={rows}
      keyOf={({ cause }) => cause}
      sort={sort}
      onSort={onSort}
    />
  );
}

const columns: readonly Column<CauseSum>[] = [
  {
    id: 'cause',
    head: 'Cause',
    value: ({ cause }) => cause,
    cell: ({ cause }) => <Link to={`/requests?cause=${cause}`}>{causeWords[cause].text}</Link>,
  },
  {
    id: 'turns',
    head: 'Turns',
    isFigure: true,
    value: ({ turns }) => turns,
    cell: ({ turns }) => count(turns),
  },
  {
    id: 'tokens',
    head: 'Tokens paid again',
    isFigure: true,
    value: ({ tokens }) => tokens,
    cell: ({ tokens }) => compact(tokens),
  },
  {
    id: 'usd',
    head: 'Cost',
    isFigure: true,
    value: (sum) => sum.usd,
    cell: (sum) => (sum.usd === null ? <span class="dim">unknown</span> : usd(sum.usd)),
  },
  { id: 'advice', head: 'What to do', class: 'advice', cell: ({ cause }) => causeWords[cause].advice },
];
