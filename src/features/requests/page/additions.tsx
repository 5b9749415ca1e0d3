import type { OpenedRequest } from '../../../console/web/api/ledger.js';
import { allTokens, count } from '../../../console/web/format/numbers.js';
import { usd } from '../../../console/web/format/usd.js';

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
