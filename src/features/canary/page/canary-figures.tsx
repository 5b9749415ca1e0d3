import { count, duration, share } from '../../../console/web/format/numbers.js';
import type { Canary, CanarySide } from './api.js';

const rows: readonly (readonly [name: string, value: (side: CanarySide) => string])[] = [
  ['Requests', ({ requests }) => count(requests)],
  ['Errors', ({ requests, errors }) => `${count(errors)} (${share(errors, requests)})`],
  ['Sessions with an error', ({ failed_sessions: failed }) => count(failed)],
  ['First token, p50', ({ first_token_ms: { p50 } }) => time(p50)],
  ['First token, p95', ({ first_token_ms: { p95 } }) => time(p95)],
  ['Added tokens a request', ({ added_tokens: added }) => count(added)],
];

function time(ms: number | null): string {
  return ms === null ? '–' : duration(ms);
}

/** Figures of both sides, side by side. */
export function CanaryFigures({ canary: { candidate, control } }: { readonly canary: Canary }) {
  return (
    <table class="table canary-figures">
      <thead>
        <tr>
          <th scope="col">
            <span class="sr-only">Figure</span>
          </th>
          <th scope="col" class="num">
            New config
          </th>
          <th scope="col" class="num">
            Old config
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class="num">{value(candidate)}</td>
            <td class="num">{value(control)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
