import type { LedgerRequest } from '../../api/types.js';
import { compact, duration, inputTokens } from '../../format/numbers.js';
import { shortFormatWords } from '../../format/words.js';
import { hrefOf, navigate } from '../../state/location.js';
import { Link } from '../../ui/link.js';
import { Time } from '../../ui/time.js';
import { Outcome } from './outcome.js';

interface RequestTableProps {
  readonly rows: readonly LedgerRequest[];
  /** Ids of the requests that arrived while the page was open. */
  readonly fresh: ReadonlySet<string>;
}

/** Column heads; numbers are aligned to the right. */
const columns = [
  { id: 'time', head: 'Time' },
  { id: 'outcome', head: 'Outcome' },
  { id: 'model', head: 'Model' },
  { id: 'format', head: 'Format' },
  { id: 'key', head: 'Key' },
  { id: 'slot', head: 'Slot' },
  { id: 'tokens', head: 'Tokens in / out', isFigure: true },
  { id: 'first-event', head: 'First event', isFigure: true },
  { id: 'duration', head: 'Duration', isFigure: true },
];

export function RequestTable({ rows, fresh }: RequestTableProps) {
  return (
    <div class="card table-card">
      <table class="table requests cards-when-narrow">
        <thead>
          <tr>
            {columns.map(({ id, head, isFigure }) => (
              <th key={id} scope="col" class={`column-${id}${isFigure ? ' num' : ''}`}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.id} row={row} isFresh={fresh.has(row.id)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Row of a request, which a click opens; the link in it is for the keyboard. */
function Row({ row, isFresh }: { readonly row: LedgerRequest; readonly isFresh: boolean }) {
  const to = `/requests/${encodeURIComponent(row.id)}`;
  const open = (event: MouseEvent) => {
    const isOnLink = event.target instanceof Element && event.target.closest('a');
    if (isOnLink || window.getSelection()?.toString()) return;
    if (event.metaKey || event.ctrlKey) window.open(hrefOf(to), '_blank');
    else navigate(to);
  };
  return (
    // Keyboard users have the link in the first cell; a link across the whole row would prevent selecting
    // text.
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
        <Name text={row.model} />
      </td>
      <td data-label="Format">
        {shortFormatWords[row.format] ?? row.format}
        {row.streamed && <span class="dim"> · stream</span>}
      </td>
      <td data-label="Key">
        <Name text={row.key && (row.key.name ?? row.key.id)} />
      </td>
      <td data-label="Slot">
        <span class="slot-and-attempts">
          <Name text={row.slot} />
          {row.attempts > 1 && <Attempts number={row.attempts} />}
        </span>
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
