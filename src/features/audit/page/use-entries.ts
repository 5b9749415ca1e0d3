import { useEffect, useState } from 'preact/hooks';
import { toConsoleError, type ListPage } from '../../../console/web/api/call.js';
import { toast } from '../../../console/web/state/toasts.js';
import { useResource, type Resource } from '../../../console/web/state/use-resource.js';
import { fetchAudit, type AuditEntry } from './api.js';
import { toQuery, type Filters } from './filters.js';

const pageSize = 50;

interface Entries {
  readonly first: Resource<ListPage<AuditEntry>>;
  /** Entries of the further pages. */
  readonly older: readonly AuditEntry[];
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly more: () => void;
}

interface Older {
  readonly first: ListPage<AuditEntry> | undefined;
  readonly entries: readonly AuditEntry[];
  readonly cursor: string | null;
}

/** Loads the log page by page; other filters, and a reload of the first page, start over. */
export function useEntries(filters: Filters): Entries {
  const first = useResource(JSON.stringify(filters), (signal) =>
    fetchAudit(toQuery(filters, { limit: pageSize }), signal),
  );
  const [older, setOlder] = useState<Older>({ first: undefined, entries: [], cursor: null });
  const [isLoadingMore, setLoadingMore] = useState(false);
  const { data } = first;
  useEffect(() => {
    if (data) setOlder({ first: data, entries: [], cursor: data.next_cursor });
  }, [data]);
  const load = async () => {
    setLoadingMore(true);
    try {
      const page = await fetchAudit(toQuery(filters, { limit: pageSize, cursor: older.cursor }));
      setOlder((last) => ({
        ...last,
        entries: [...last.entries, ...page.data],
        cursor: page.next_cursor,
      }));
    } catch (error) {
      toast(toConsoleError(error).message, 'bad');
    } finally {
      setLoadingMore(false);
    }
  };
  const isOurs = older.first === data;
  return {
    first,
    older: isOurs ? older.entries : [],
    hasMore: isOurs && older.cursor !== null,
    isLoadingMore,
    more: () => void load(),
  };
}
