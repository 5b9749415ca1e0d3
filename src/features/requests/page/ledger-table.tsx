import type { OpenedRequest, Tokens } from '../../../console/web/api/ledger.js';
import { allTokens, count } from '../../../console/web/format/numbers.js';
import { usd } from '../../../console/web/format/usd.js';

const kinds: readonly { readonly field: keyof Tokens; readonly text: string }[] = [
  { field: 'input', text: 'Input' },
  { field: 'cache_read', text: 'Cache read' },
  { field: 'cache_write_5m', text: 'Cache write, 5 min' },
  { field: 'cache_write_1h', text: 'Cache write, 1 h' },
  { field: 'output', text: 'Output' },
];

interface LedgerTableProps {
  readonly billed: Tokens;
  readonly shown: Tokens;
  /** Null: unknown. */
  readonly cost: OpenedRequest['cost'];
  readonly isEstimated: boolean;
}

/** Billed and shown tokens side by side: the difference is the gateway's own additions to the request. */
export function LedgerTable({ billed, shown, cost, isEstimated }: LedgerTableProps) {
  const rows = [
    ...kinds.map(({ field, text }) => ({ text, billed: billed[field], shown: shown[field] })),
    { text: 'Total', billed: allTokens(billed), shown: allTokens(shown) },
  ];
  return (
    <>
      <table class="ledger">
        <thead>
          <tr>
            <th scope="col">Kind</th>
            <th scope="col">Billed upstream</th>
            <th scope="col">Shown to caller</th>
            <th scope="col">Added by us</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.text}>
              <th scope="row">{row.text}</th>
              <td data-label="Billed upstream">{count(row.billed)}</td>
              <td data-label="Shown to caller">{count(row.shown)}</td>
              <td data-label="Added by us" class={row.billed === row.shown ? 'dim' : ''}>
                {difference(row.billed - row.shown)}
              </td>
            </tr>
          ))}
          <tr>
            <th scope="row">Cost</th>
            <td data-label="Billed upstream">{cost ? usd(cost.billed_usd) : 'unknown'}</td>
            <td data-label="Shown to caller">{cost ? usd(cost.shown_usd) : 'unknown'}</td>
            <td data-label="Added by us" class={cost && cost.billed_usd !== cost.shown_usd ? '' : 'dim'}>
              {cost ? usdDifference(cost.billed_usd - cost.shown_usd) : '–'}
            </td>
          </tr>
        </tbody>
      </table>
      <p class="hint">
        What the gateway puts into a request is billed upstream, and is not shown to the caller.
      </p>
      {isEstimated && (
        <p class="hint">Tokens are estimated: the answer was cut off, or its upstream told none.</p>
      )}
    </>
  );
}

function usdDifference(amount: number): string {
  return amount === 0 ? '0' : `${amount > 0 ? '+' : '−'}${usd(Math.abs(amount))}`;
}

function difference(tokens: number): string {
  if (tokens === 0) return '0';
  return `${tokens > 0 ? '+' : '−'}${count(Math.abs(tokens))}`;
}
