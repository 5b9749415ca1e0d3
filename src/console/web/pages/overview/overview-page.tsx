import type { Usage } from '../../api/types.js';
import { longTime } from '../../format/times.js';
import { changeQuery, usePlace } from '../../state/location.js';
import { Empty } from '../../ui/empty.js';
import { Link } from '../../ui/link.js';
import { Loaded, Skeleton } from '../../ui/loaded.js';
import { Page } from '../../ui/page.js';
import { Segmented } from '../../ui/segmented.js';
import { Breakdowns } from './breakdowns.js';
import { Charts } from './charts.js';
import { groupingOf, groupingOptions } from './grouping.js';
import { rangeOf, rangeOptions, ranges } from './range.js';
import { StoredResponses } from './stored-responses.js';
import { Tiles } from './tiles.js';
import { useOverview, useTags } from './use-overview.js';

export function OverviewPage() {
  const { query } = usePlace();
  const rangeName = rangeOf(query.get('range'));
  const grouping = groupingOf(query.get('by'));
  const usage = useOverview(rangeName, grouping);
  const tags = useTags(rangeName);
  const subject = grouping?.tag ? `Requests with the tag "${grouping.tag}"` : 'What went through';
  const actions = (
    <>
      <Segmented
        label="Split by"
        value={(grouping && query.get('by')) ?? 'total'}
        options={groupingOptions(tags)}
        onValue={(value) => changeQuery({ by: value })}
      />
      <Segmented
        label="Time"
        value={rangeName}
        options={rangeOptions}
        onValue={(value) => changeQuery({ range: value })}
      />
    </>
  );
  return (
    <Page title="Overview" lead={`${subject} in ${ranges[rangeName].words}.`} actions={actions}>
      <Loaded resource={usage} skeleton={<OverviewSkeleton />}>
        {(found) => (
          <>
            <Tiles buckets={found.report.data} />
            <StoredResponses />
            {found.report.data.length === 0 ? (
              <NothingYet report={found.report} />
            ) : (
              <>
                <Charts {...found} />
                <Breakdowns fromMs={found.fromMs} toMs={found.toMs} tags={tags} />
              </>
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function NothingYet({ report }: { readonly report: Usage }) {
  return (
    <div class="card">
      <Empty icon="overview" title="No requests in this time">
        <p>
          Nothing came since {longTime(new Date(report.from))}. <Link to="/keys?issue=1">Issue a key</Link>{' '}
          and <Link to="/connect">paste a curl line</Link>: it shows here within seconds.
        </p>
      </Empty>
    </div>
  );
}

function OverviewSkeleton() {
  return (
    <>
      <div class="tiles">
        {['requests', 'failed', 'tokens', 'first', 'flight', 'slots'].map((tile) => (
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
