import type { OpenedRequest } from '../../../console/web/api/ledger.js';
import { duration, share, allTokens, count } from '../../../console/web/format/numbers.js';
import { usd } from '../../../console/web/format/usd.js';

/** A bar for each stage, in the order they ran, relative to the longest. */
export function StageTimes({ row }: { readonly row: OpenedRequest }) {
  const { stages, duration_ms: total } = row;
  if (stages.length === 0)
    return (
      <p class="dim">
        Not kept: it was answered by another instance, before a restart, or before any stage ran.
      </p>
    );
  const rows = [...stages, { stage: 'then: the answer', ms: restOf(row), skipped: false }];
  const longest = Math.max(0.001, ...rows.map(({ ms }) => ms));
  return (
    <ol class="bars">
      {rows.map(({ stage, ms, skipped }) => (
        <li key={stage}>
          <span class="mono">{skipped ? `${stage} (failed, skipped)` : stage}</span>
          <span class="bar-track" aria-hidden="true">
            <span style={{ width: `${Math.max(0.5, (ms / longest) * 100)}%` }} />
          </span>
          <span class="num" title={`${share(ms, total)} of the whole`}>
            {ms < 0.1 ? '< 0.1 ms' : duration(ms)}
          </span>
        </li>
      ))}
    </ol>
  );
}

/** Time after the stages, which end when the answer begins: the streaming to the caller. */
function restOf({ stages, duration_ms: total }: OpenedRequest): number {
  return Math.max(0, total - stages.reduce((sum, { ms }) => sum + ms, 0));
}

/** Tokens and cost that each stage added to a request. */
export function Additions({ additions }: Pick<OpenedRequest, 'additions'>) {
  return (
    <table class="ledger ledger-plain">
      <thead>
        <tr>
          <th scope="col">Stage</th>
          <th scope="col">Tokens added</th>
          <th scope="col">Cost added</th>
        </tr>
      </thead>
      <tbody>
        {additions.map(({ stage, tokens, cost_usd: cost }) => (
          <tr key={stage}>
            <th scope="row" class="mono">
              {stage}
            </th>
            <td data-label="Tokens added">{count(allTokens(tokens))}</td>
            <td data-label="Cost added">{cost === null ? <span class="dim">unknown</span> : usd(cost)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
