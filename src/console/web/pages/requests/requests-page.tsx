import { useState } from 'preact/hooks';
import type { LedgerRequest } from '../../api/types.js';
import { usePlace } from '../../state/location.js';
import { Badge, type Tone } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Empty } from '../../ui/empty.js';
import { Link } from '../../ui/link.js';
import { Loaded, Skeleton } from '../../ui/loaded.js';
import { Page } from '../../ui/page.js';
import { FilterBar } from './filter-bar.js';
import { filtersOf } from './filters.js';
import { RequestTable } from './request-table.js';
import { usePages } from './use-pages.js';
import { useTail, type Tail } from './use-tail.js';

export function RequestsPage() {
  const filters = filtersOf(usePlace().query);
  const key = JSON.stringify(filters);
  const [isPaused, setPaused] = useState(false);
  const pages = usePages(key, filters);
  const tail = useTail(filters, !isPaused, pages.first.reload);
  const actions = (
    <>
      <TailBadge state={tail.state} />
      <Button icon={isPaused ? 'play' : 'pause'} onClick={() => setPaused(!isPaused)}>
        {isPaused ? 'Go on' : 'Pause'}
      </Button>
    </>
  );
  return (
    <Page title="Requests" lead="Each one as it ends, the latest arrival first." actions={actions}>
      <FilterBar filters={filters} />
      <Loaded resource={pages.first} skeleton={<RequestsSkeleton />}>
        {({ data }) => {
          const rows = merged(tail.rows, data, pages.older);
          return rows.length === 0 ? (
            <NoRequests isNarrowed={Object.keys(filters).length > 0} />
          ) : (
            <RequestTable rows={rows} fresh={new Set(tail.rows.map(({ id }) => id))} />
          );
        }}
      </Loaded>
      {pages.hasMore && (
        <p class="more-rows">
          <Button busy={pages.isLoadingMore} onClick={pages.more}>
            Show older requests
          </Button>
        </p>
      )}
    </Page>
  );
}

const tailLooks: Readonly<Record<Tail['state'], { readonly tone: Tone; readonly text: string }>> = {
  off: { tone: 'idle', text: 'Paused' },
  connecting: { tone: 'info', text: 'Connecting' },
  live: { tone: 'ok', text: 'Live' },
  lost: { tone: 'warn', text: 'Connection lost, trying again' },
};

function TailBadge({ state }: { readonly state: Tail['state'] }) {
  const { tone, text } = tailLooks[state];
  return (
    <span role="status" aria-live="polite">
      <Badge tone={tone} icon={state === 'live' ? 'pulse' : state === 'off' ? 'pause' : 'wait'}>
        {text}
      </Badge>
    </span>
  );
}

/**
 * Merges lists of rows, newest first by the displayed time. A request from the live tail may be on the first
 * page too.
 */
function merged(...lists: readonly (readonly LedgerRequest[])[]): readonly LedgerRequest[] {
  const byId = new Map<string, LedgerRequest>();
  for (const row of lists.flat()) if (!byId.has(row.id)) byId.set(row.id, row);
  return [...byId.values()].toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at));
}

function NoRequests({ isNarrowed }: { readonly isNarrowed: boolean }) {
  return (
    <div class="card">
      {isNarrowed ? (
        <Empty icon="search" title="No request is like that">
          <p>Take a filter away: nothing of the time that the ledger keeps fits all of them.</p>
        </Empty>
      ) : (
        <Empty icon="requests" title="No requests yet">
          <p>
            <Link to="/keys?issue=1">Issue a key</Link> and <Link to="/connect">paste a curl line</Link>: the
            request shows here as soon as it has ended.
          </p>
        </Empty>
      )}
    </div>
  );
}

function RequestsSkeleton() {
  return (
    <div class="card">
      <Skeleton rows={12} height={34} />
    </div>
  );
}
