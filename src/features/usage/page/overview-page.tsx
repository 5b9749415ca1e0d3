import type { Usage } from '../../../console/web/api/ledger.js';
import { longTime } from '../../../console/web/format/times.js';
import { FilterBar } from '../../../console/web/scope/filter-bar.js';
import { RangePicker, ZoneNote } from '../../../console/web/scope/range-picker.js';
import { rangeInWords } from '../../../console/web/scope/range.js';
import { isFiltered, useScope } from '../../../console/web/scope/scope.js';
import type { ConsolePage } from '../../../console/web/shell/console-page.js';
import { changeQuery, usePlace } from '../../../console/web/state/location.js';
import { Empty } from '../../../console/web/ui/empty.js';
import { Link } from '../../../console/web/ui/link.js';
import { Loaded, Skeleton } from '../../../console/web/ui/loaded.js';
import { Page } from '../../../console/web/ui/page.js';
import { Select } from '../../../console/web/ui/input/select.js';
import { Breakdown, useBreakdown } from './breakdown.js';
import { Charts } from './charts.js';
import { chartOptions, groupingOf } from './grouping.js';
import { Tiles } from './tiles.js';
import { useOverview, useTags } from './use-overview.js';
import './usage.css';
import { counted } from '../../../console/web/format/numbers.js';
import { status as lastStatus } from '../../../console/web/state/status.js';
import { useStore } from '../../../console/web/state/store.js';

export const overviewPage: ConsolePage = {
  path: '/',
  title: 'Overview',
  group: 'Traffic',
  icon: 'overview',
  key: 'o',
  words: 'usage charts cost tokens',
  isMain: true,
  component: OverviewPage,
};

function OverviewPage() {
  const { query } = usePlace();
  const scope = useScope();
  const grouping = groupingOf(query.get('by'));
  const usage = useOverview(scope, grouping);
  const rows = useBreakdown(scope);
  const tags = useTags(scope);
  const subject = isFiltered(scope.filters) ? 'The requests that match the filters' : 'What went through';
  return (
    <Page
      title="Overview"
      lead={
        <>
          {subject} in {rangeInWords(scope.range)}. <ZoneNote />
        </>
      }
      actions={<RangePicker range={scope.range} />}
    >
      <div class="scope-bar">
        <FilterBar filters={scope.filters} isClosed />
        <span class="split-by">
          <Select
            label="Split charts by"
            value={(grouping && query.get('by')) ?? 'total'}
            options={chartOptions(tags)}
            onValue={(value) => changeQuery({ by: value === 'total' ? null : value }, { push: true })}
          />
        </span>
      </div>
      <Loaded resource={usage} skeleton={<OverviewSkeleton />}>
        {(found) => (
          <>
            <Tiles buckets={found.report.data} isFiltered={isFiltered(scope.filters)} />
            {found.report.data.length === 0 ? (
              <NothingYet report={found.report} isNarrowed={isFiltered(scope.filters)} />
            ) : (
              <>
                <Charts {...found} words={rangeInWords(scope.range)} />
                <Breakdown rows={rows} tags={tags} />
              </>
            )}
            <StoredResponses />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function NothingYet({ report, isNarrowed }: { readonly report: Usage; readonly isNarrowed: boolean }) {
  const span = `between ${longTime(new Date(report.from))} and ${longTime(new Date(report.to))}`;
  return (
    <div class="card">
      {isNarrowed ? (
        <Empty icon="search" title="No request matches">
          <p>Nothing {span} matches all filters. Take one away, or choose another time.</p>
        </Empty>
      ) : (
        <Empty icon="overview" title="No requests in this time">
          <p>
            Nothing came {span}. <Link to="/keys?issue=1">Issue a key</Link> and{' '}
            <Link to="/connect">paste a curl line</Link>: it shows here within seconds.
          </p>
        </Empty>
      )}
    </div>
  );
}

function OverviewSkeleton() {
  return (
    <>
      <div class="tiles">
        {['requests', 'failed', 'tokens', 'cost', 'first', 'flight', 'slots'].map((tile) => (
          <div class="card tile" key={tile}>
            <Skeleton rows={2} height={26} />
          </div>
        ))}
      </div>
      <div class="charts">
        {['requests', 'failed', 'tokens', 'first'].map((chart) => (
          <div class="card chart-card" key={chart}>
            <Skeleton rows={1} height={274} />
          </div>
        ))}
      </div>
    </>
  );
}

/** Total of the responses stored for callers of the Responses format; hidden if there are none. */
function StoredResponses() {
  const total = useStore(lastStatus)?.store.responses;
  if (!total || total.count === 0) return null;
  return (
    <p class="hint">
      {counted(total.count, 'stored response')}, {(total.bytes / 2 ** 20).toFixed(1)} MB
    </p>
  );
}
