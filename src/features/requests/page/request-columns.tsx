import type { LedgerRequest } from '../../../console/web/api/ledger.js';
import { compact, duration, inputTokens } from '../../../console/web/format/numbers.js';
import { pathOfRequest } from '../../../console/web/state/location.js';
import { usd } from '../../../console/web/format/usd.js';
import { shortFormatWords } from '../../../console/web/format/words.js';
import { Link } from '../../../console/web/ui/link.js';
import type { CellValue, Column } from '../../../console/web/ui/table/column.js';
import { Time } from '../../../console/web/ui/time.js';
import { Badge, type BadgeProps } from '../../../console/web/ui/badge.js';

/** Columns of the list of requests. */
export const requestColumns: readonly Column<LedgerRequest>[] = [
  {
    id: 'time',
    head: 'Time',
    orders: ['oldest first', 'newest first'],
    value: ({ at }) => at,
    cell: (row) => (
      <Link to={pathOfRequest(row.id)} class="row-link">
        <Time at={row.at} />
      </Link>
    ),
  },
  { id: 'outcome', head: 'Outcome', value: ({ status }) => status, cell: (row) => <Outcome row={row} /> },
  {
    id: 'model',
    head: 'Model',
    class: 'mono',
    value: ({ model }) => model,
    cell: ({ model, label }) => (
      <>
        <Name text={model} />
        {label !== null && <span class="dim"> · {label}</span>}
      </>
    ),
  },
  {
    id: 'format',
    head: 'Format',
    value: ({ format }) => format,
    cell: ({ format, streamed }) => (
      <>
        {shortFormatWords[format] ?? format}
        {streamed && <span class="dim"> · stream</span>}
      </>
    ),
  },
  { id: 'key', head: 'Key', value: keyName, cell: (row) => <Name text={keyName(row)} /> },
  {
    id: 'slot',
    head: 'Slot',
    value: ({ slot }) => slot,
    cell: ({ slot, attempts }) => (
      <span class="slot-and-attempts">
        <Name text={slot} />
        {attempts > 1 && <Attempts number={attempts} />}
      </span>
    ),
  },
  {
    id: 'tokens',
    head: 'Tokens in / out',
    isFigure: true,
    value: ({ billed }) => inputTokens(billed) + billed.output,
    cell: ({ billed, estimated }) =>
      `${estimated ? '≈ ' : ''}${compact(inputTokens(billed))} / ${compact(billed.output)}`,
  },
  {
    id: 'cost-usd',
    head: 'Cost',
    isFigure: true,
    class: 'cost',
    value: ({ cost }) => cost && cost.billed_usd,
    cell: ({ cost }) => (cost ? usd(cost.billed_usd) : <None />),
  },
  {
    id: 'first-event',
    head: 'First event',
    isFigure: true,
    value: (row) => row.first_event_ms,
    cell: (row) => (row.first_event_ms === null ? <None /> : duration(row.first_event_ms)),
  },
  {
    id: 'duration',
    head: 'Duration',
    isFigure: true,
    value: (row) => row.duration_ms,
    cell: (row) => duration(row.duration_ms),
  },
];

/** Columns of exports, which have room for them. */
export const exportedColumns: readonly Column<LedgerRequest>[] = [
  ...requestColumns,
  exported('id', ({ id }) => id),
  exported('request-id', (row) => row.request_id),
  exported('code', ({ code }) => code),
  exported('key-id', ({ key }) => key && key.id),
  exported('team', ({ team }) => team),
  exported('pipeline', ({ pipeline }) => pipeline),
  exported('label', ({ label }) => label),
  exported('parent', ({ parent }) => parent),
  exported('session', ({ session }) => session),
  exported('attempts', ({ attempts }) => attempts),
];

function exported(id: string, value: (row: LedgerRequest) => CellValue): Column<LedgerRequest> {
  return { id, head: id, value, cell: value };
}

function keyName({ key }: LedgerRequest): string | null {
  return key && (key.name ?? key.id);
}

/** A name, cut if there is no room; the tooltip has the full text. */
function Name({ text }: { readonly text: string | null }) {
  if (text === null) return <None />;
  return (
    <span class="name" title={text}>
      {text}
    </span>
  );
}

function Attempts({ number }: { readonly number: number }) {
  return (
    <span class="dim num" title={`${number} upstream calls`}>
      ×{number}
    </span>
  );
}

function None() {
  return <span class="dim">–</span>;
}

/** Outcome of a request: its status with a shape, and its error code if it has one. */
export function Outcome({ row }: { readonly row: Pick<LedgerRequest, 'status' | 'code' | 'failed'> }) {
  const { status, code, failed } = row;
  if (status >= 500 || (failed && status < 400))
    return <Failure tone="bad" icon="stop" text={`${status} ${code ?? 'failed'}`} />;
  if (status >= 400) {
    const words = code ?? (status === 499 ? 'caller left' : 'refused');
    return <Failure tone="warn" icon="warn" text={`${status} ${words}`} />;
  }
  return (
    <Badge tone="ok" icon="check">
      {status}
    </Badge>
  );
}

function Failure({ text, ...look }: Pick<BadgeProps, 'tone' | 'icon'> & { readonly text: string }) {
  return (
    <Badge {...look} title={text}>
      {text}
    </Badge>
  );
}
