import { useState } from 'preact/hooks';
import { fetchRequests, type LedgerRequest } from '../../../console/web/api/ledger.js';
import type { Query } from '../../../console/web/api/call.js';
import { FilterBar } from '../../../console/web/scope/filter-bar.js';
import { isPast, rangeInWords, rangeKey, spanOf, type Range } from '../../../console/web/scope/range.js';
import { RangePicker, ZoneNote } from '../../../console/web/scope/range-picker.js';
import { isFiltered, useScope } from '../../../console/web/scope/scope.js';
import type { ConsolePage } from '../../../console/web/shell/console-page.js';
import { action, type Command } from '../../../console/web/shell/palette/command.js';
import { changeQuery, navigate } from '../../../console/web/state/location.js';
import { Button } from '../../../console/web/ui/button.js';
import { Empty } from '../../../console/web/ui/empty.js';
import { Link } from '../../../console/web/ui/link.js';
import { CardSkeleton, Loaded } from '../../../console/web/ui/loaded.js';
import { Page } from '../../../console/web/ui/page.js';
import { OpenedRequestPage } from './opened-request-page.js';
import { RequestTable } from './request-table.js';
import { usePages } from '../../../console/web/state/use-pages.js';
import { useTail, type Tail } from './use-tail.js';
import './requests.css';
import './error-text.css';
import { Badge, type Tone } from '../../../console/web/ui/badge.js';

export const requestsPage: ConsolePage = {
  path: '/requests',
  title: 'Requests',
  group: 'Traffic',
  icon: 'requests',
  key: 'r',
  words: 'ledger log errors',
  isMain: true,
  component: RequestsPage,
  item: OpenedRequestPage,
};

/** Commands of the palette for requests. */
export function useRequestCommands(): readonly Command[] {
  return [failed];
}

const failed = action('Failed requests', 'warn', () => navigate('/requests?failed=true'), 'errors');

function RequestsPage() {
  const { range, filters } = useScope();
  const [isPaused, setPaused] = useState(false);
  const canGrow = !isPast(range);
  const pages = usePages(`${rangeKey(range)} ${JSON.stringify(filters)}`, {
    fetchPage: (page, signal) => fetchRequests({ ...filters, ...timesOf(range), ...page }, signal),
    keepsRows: true,
  });
  const tail = useTail(filters, canGrow && !isPaused, pages.first.reload);
  const actions = (
    <>
      {canGrow && <TailControls state={tail.state} isPaused={isPaused} onPause={setPaused} />}
      <RangePicker range={range} hasAll />
    </>
  );
  return (
    <Page
      title="Requests"
      lead={
        <>
          Each one as it ends, the latest arrival first, in {rangeInWords(range)}. <ZoneNote />
        </>
      }
      actions={actions}
    >
      <FilterBar filters={filters} />
      <Loaded resource={pages.first} skeleton={<CardSkeleton rows={12} height={34} />}>
        {({ data }) => {
          const rows = merged(canGrow ? tail.rows : [], data, pages.older);
          return rows.length === 0 ? (
            <NoRequests isNarrowed={isFiltered(filters)} range={range} />
          ) : (
            <RequestTable
              rows={rows}
              hasMore={pages.hasMore}
              fresh={new Set(tail.rows.map(({ id }) => id))}
            />
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

/** Times of a range for the API; a preset is open-ended. */
function timesOf(range: Range): Query {
  if (range.name === 'all') return {};
  if (range.name === 'custom') return { from: range.fromMs, to: range.toMs };
  return { from: spanOf(range, Date.now()).fromMs };
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

function NoRequests({ isNarrowed, range }: { readonly isNarrowed: boolean; readonly range: Range }) {
  const showAll = () => changeQuery({ range: null, from: null, to: null }, { push: true });
  return (
    <div class="card">
      {isNarrowed || range.name !== 'all' ? (
        <Empty icon="search" title="No request matches">
          <p>
            Nothing in {rangeInWords(range)} {isNarrowed ? 'matches all filters: remove one' : 'is there'}
            {range.name === 'all' ? '.' : ', or look at all the time that the ledger keeps.'}
          </p>
          {range.name !== 'all' && <Button onClick={showAll}>Look at all the time</Button>}
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

interface TailControlsProps {
  readonly state: Tail['state'];
  readonly isPaused: boolean;
  readonly onPause: (isPaused: boolean) => void;
}

const looks: Readonly<Record<Tail['state'], { readonly tone: Tone; readonly text: string }>> = {
  off: { tone: 'idle', text: 'Paused' },
  connecting: { tone: 'info', text: 'Connecting' },
  live: { tone: 'ok', text: 'Live' },
  lost: { tone: 'warn', text: 'Connection lost, trying again' },
};

/** State of the live tail, and the button that pauses it. */
function TailControls({ state, isPaused, onPause }: TailControlsProps) {
  const { tone, text } = looks[state];
  return (
    <>
      <span class="tail-state" role="status" aria-live="polite">
        <Badge tone={tone} icon={state === 'live' ? 'pulse' : state === 'off' ? 'pause' : 'wait'}>
          {text}
        </Badge>
      </span>
      <Button icon={isPaused ? 'play' : 'pause'} onClick={() => onPause(!isPaused)}>
        {isPaused ? 'Go on' : 'Pause'}
      </Button>
    </>
  );
}
