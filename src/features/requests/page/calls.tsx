import type { OpenedRequest } from '../../../console/web/api/ledger.js';
import { duration } from '../../../console/web/format/numbers.js';
import { codeInWords } from '../../../console/web/format/words.js';
import { Badge } from '../../../console/web/ui/badge.js';
import { Link } from '../../../console/web/ui/link.js';

/** The upstream calls of a request in order, retries included. */
export function Calls({ row }: { readonly row: OpenedRequest }) {
  const { attempts, slot } = row;
  const calls = withEnd(row);
  if (calls.length === 0) return <p class="dim">{withoutCalls(attempts, slot)}</p>;
  return (
    <ol class="calls">
      {calls.map(({ slot: called, model, ms, code }, index) => (
        <li key={index}>
          <span class="call-number">{index + 1}</span>
          <div>
            <p>
              <Link to={`/requests?slot=${encodeURIComponent(called)}`}>{called}</Link>{' '}
              {model && <span class="mono">{model} </span>}
              <span class="dim num">{duration(ms)}</span>
            </p>
            {code && <p class="dim">{codeInWords(code)}</p>}
          </div>
          <Badge tone={code ? 'bad' : 'ok'} icon={code ? 'stop' : 'check'}>
            {code ?? 'answered'}
          </Badge>
        </li>
      ))}
    </ol>
  );
}

function withoutCalls(attempts: number, slot: string | null): string {
  if (attempts === 0) return 'None: it was answered before an upstream was asked.';
  return `The individual calls are no longer kept. There ${attempts === 1 ? 'was 1' : `were ${attempts}`}${slot ? `, the last one by ${slot}` : ''}.`;
}

/** Adds the request's error code to its last call, since a call that failed in mid-answer has no code of its own. */
function withEnd({ calls, failed, code }: OpenedRequest): OpenedRequest['calls'] {
  const last = calls.at(-1);
  if (!failed || !last) return calls;
  return [...calls.slice(0, -1), { ...last, code: last.code ?? code }];
}
