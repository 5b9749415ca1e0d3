import { useMemo, useState } from 'preact/hooks';
import { apiUrl } from '../../../console/web/api/call.js';
import type { ConsolePage } from '../../../console/web/shell/console-page.js';
import { usePlace } from '../../../console/web/state/location.js';
import { usePages } from '../../../console/web/state/use-pages.js';
import { Button } from '../../../console/web/ui/button.js';
import { Empty } from '../../../console/web/ui/empty.js';
import { Icon } from '../../../console/web/ui/icon.js';
import { CardSkeleton, Loaded } from '../../../console/web/ui/loaded.js';
import { Page } from '../../../console/web/ui/page.js';
import { Table } from '../../../console/web/ui/table/table.js';
import { fetchAudit, type AuditEntry } from './api.js';
import { auditColumns } from './audit-columns.js';
import { EntryDialog } from './entry-dialog.js';
import { FilterBar } from './filter-bar.js';
import { filtersOf, type Filters } from './filters.js';
import './audit.css';

export const auditPage: ConsolePage = {
  path: '/audit',
  title: 'Audit log',
  group: 'Access',
  icon: 'file',
  key: 'a',
  words: 'who when changes history',
  component: AuditPage,
};

/** The audit log: actions and their actors, newest first. */
function AuditPage() {
  const filters = filtersOf(usePlace().query);
  const { first, older, hasMore, isLoadingMore, more } = usePages(JSON.stringify(filters), {
    fetchPage: (page, signal) => fetchAudit({ ...filters, ...page }, signal),
  });
  const [opened, setOpened] = useState<AuditEntry>();
  const columns = useMemo(() => auditColumns(setOpened), []);
  return (
    <Page
      title="Audit log"
      lead="What operators have done, and what they were refused. It never contains secrets."
      actions={<Exports filters={filters} />}
    >
      <FilterBar filters={filters} />
      <Loaded resource={first} skeleton={<CardSkeleton rows={12} height={34} />}>
        {({ data }) =>
          data.length === 0 ? (
            <NoEntries isNarrowed={Object.keys(filters).length > 0} />
          ) : (
            <Table
              label="Audit log"
              class="audit"
              columns={columns}
              rows={[...data, ...older]}
              keyOf={({ id }) => id}
              pageSize={Infinity}
            />
          )
        }
      </Loaded>
      {hasMore && (
        <p class="more-rows">
          <Button busy={isLoadingMore} onClick={more}>
            Show older entries
          </Button>
        </p>
      )}
      {opened && <EntryDialog key={opened.id} entry={opened} onClose={() => setOpened(undefined)} />}
    </Page>
  );
}

/** Links to the log as files, as filtered. */
function Exports({ filters }: { readonly filters: Filters }) {
  return (
    <span class="export" role="group" aria-label="Export">
      {(['csv', 'json'] as const).map((format) => (
        <a
          key={format}
          class="button button-plain button-small"
          href={apiUrl('/audit/export', { ...filters, format })}
          download
        >
          <Icon name="save" size={15} />
          <span>{format.toUpperCase()}</span>
        </a>
      ))}
    </span>
  );
}

function NoEntries({ isNarrowed }: { readonly isNarrowed: boolean }) {
  return (
    <div class="card">
      {isNarrowed ? (
        <Empty icon="search" title="No entry matches">
          <p>Remove a filter to see more entries.</p>
        </Empty>
      ) : (
        <Empty icon="file" title="Nothing has been done yet">
          <p>Each change of a key, a slot or the config shows here, and each login.</p>
        </Empty>
      )}
    </div>
  );
}
