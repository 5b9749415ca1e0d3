import { causeWords } from '../../../console/web/format/cache-words.js';
import { compact } from '../../../console/web/format/numbers.js';
import { usd } from '../../../console/web/format/usd.js';
import { Link } from '../../../console/web/ui/link.js';
import type { Column } from '../../../console/web/ui/table/column.js';
import { Table } from '../../../console/web/ui/table/table.js';
import { Time } from '../../../console/web/ui/time.js';
import { pathOfRequest } from '../../../console/web/state/location.js';
import type { Loss } from './use-cache.js';

/** Last turns with a loss, each with a link to its request. */
export function LossTable({ losses }: { readonly losses: readonly Loss[] }) {
  return (
    <Table
      label="Latest turns with losses"
      class="losses"
      columns={columns}
      rows={losses}
      keyOf={({ id }) => id}
      pageSize={10}
    />
  );
}

const columns: readonly Column<Loss>[] = [
  {
    id: 'time',
    head: 'Time',
    cell: (row) => (
      <Link to={pathOfRequest(row.id)} class="row-link">
        <Time at={row.at} />
      </Link>
    ),
  },
  { id: 'cause', head: 'Cause', cell: ({ cache }) => causeWords[cache.cause].text },
  { id: 'detail', head: 'Where', class: 'mono', cell: ({ cache }) => <Name text={cache.detail} /> },
  { id: 'model', head: 'Model', class: 'mono', cell: ({ model }) => <Name text={model} /> },
  { id: 'slot', head: 'Slot', cell: ({ slot }) => <Name text={slot} /> },
  { id: 'tokens', head: 'Tokens', isFigure: true, cell: ({ cache }) => compact(cache.lost_tokens) },
  {
    id: 'usd',
    head: 'Cost',
    isFigure: true,
    cell: ({ cache }) => (cache.lost_usd === null ? <span class="dim">unknown</span> : usd(cache.lost_usd)),
  },
];

function Name({ text }: { readonly text: string | null }) {
  if (text === null) return <span class="dim">–</span>;
  return (
    <span class="name" title={text}>
      {text}
    </span>
  );
}
