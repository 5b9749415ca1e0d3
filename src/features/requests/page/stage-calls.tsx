import { fetchRequests, type OpenedRequest } from '../../../console/web/api/ledger.js';
import { allTokens, count, duration } from '../../../console/web/format/numbers.js';
import { pathOfRequest } from '../../../console/web/state/location.js';
import { useResource } from '../../../console/web/state/use-resource.js';
import { Link } from '../../../console/web/ui/link.js';
import { Card } from '../../../console/web/ui/page.js';
import { Outcome } from './request-columns.js';

/** Calls of models that stages made for a request; nothing if there are none. */
export function StageCalls({ row: { id } }: { readonly row: OpenedRequest }) {
  const { data } = useResource(`calls of ${id}`, (signal) =>
    fetchRequests({ parent: id, limit: String(maxShown) }, signal),
  );
  if (!data || data.data.length === 0) return null;
  return (
    <Card
      title="Calls by stages"
      aside={data.has_more && <Link to={`/requests?parent=${encodeURIComponent(id)}`}>All of them</Link>}
    >
      <ol class="calls">
        {data.data.toReversed().map((call, index) => (
          <li key={call.id}>
            <span class="call-number">{index + 1}</span>
            <div>
              <p>
                <Link to={pathOfRequest(call.id)}>{call.label}</Link> <span class="mono">{call.model} </span>
                <span class="dim num">{duration(call.duration_ms)}</span>
              </p>
              <p class="dim num">{count(allTokens(call.billed))} tokens</p>
            </div>
            <Outcome row={call} />
          </li>
        ))}
      </ol>
    </Card>
  );
}

const maxShown = 20;
