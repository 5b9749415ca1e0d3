import type { LedgerRequest } from '../../api/types.js';
import { compact, duration, inputTokens } from '../../format/numbers.js';
import { shortFormatWords } from '../../format/words.js';
import { hrefOf, navigate } from '../../state/location.js';
import { Link } from '../../ui/link.js';
import { Time } from '../../ui/time.js';
import { Outcome } from './outcome.js';

export interface RequestTableProps {
  readonly rows: readonly LedgerRequest[];
  /** How many of them, from the top, have come while the page was open. */
  readonly fresh: number;
}

const columns = [
  'Time',
  'Outcome',
  'Model',
  'Format',
  'Key',
  'Slot',
  'Tokens in / out',
  'First event',
  'Duration',
];
const numeric = new Set(['Tokens in / out', 'First event', 'Duration']);

export function RequestTable({ rows, fresh }: RequestTableProps) {
  return (
    <div class="card table-card">
      <table class="table requests cards-on-phone">
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col" class={numeric.has(name) ? 'num' : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <Row key={row.id} row={row} isFresh={index < fresh} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The whole row opens the request for a mouse; the link in it does for everyone. */
function Row({ row, isFresh }: { readonly row: LedgerRequest; readonly isFresh: boolean }) {
  const to = `/requests/${encodeURIComponent(row.id)}`;
  const open = (event: MouseEvent) => {
    const isOnLink = event.target instanceof Element && event.target.closest('a');
    if (isOnLink || window.getSelection()?.toString()) return;
    if (event.metaKey || event.ctrlKey) window.open(hrefOf(to), '_blank');
    else navigate(to);
  };
  return (
    // The link in its first cell is the way for the keyboard; spread over the row, it would let nobody select a text there.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
    <tr class={`clickable${isFresh ? ' fresh' : ''}`} onClick={open}>
      <th scope="row" data-label="Time">
        <Link to={to} class="row-link">
          <Time at={row.at} />
        </Link>
      </th>
      <td data-label="Outcome">
        <Outcome row={row} />
      </td>
      <td data-label="Model" class="mono">
        {row.model ?? <None />}
      </td>
      <td data-label="Format">
        {shortFormatWords[row.format] ?? row.format}
        {row.streamed && <span class="dim"> · stream</span>}
      </td>
      <td data-label="Key">{row.key ? (row.key.name ?? row.key.id) : <None />}</td>
      <td data-label="Slot">
        {row.slot ?? <None />}
        {row.attempts > 1 && <Attempts number={row.attempts} />}
      </td>
      <td data-label="Tokens in / out" class="num">
        {compact(inputTokens(row.billed))} / {compact(row.billed.output)}
      </td>
      <td data-label="First event" class="num">
        {row.first_event_ms === null ? <None /> : duration(row.first_event_ms)}
      </td>
      <td data-label="Duration" class="num">
        {duration(row.duration_ms)}
      </td>
    </tr>
  );
}

function Attempts({ number }: { readonly number: number }) {
  return (
    <span class="dim" title={`${number} upstream calls`}>
      {' '}
      ×{number}
    </span>
  );
}

function None() {
  return <span class="dim">–</span>;
}
