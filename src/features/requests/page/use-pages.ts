import { useEffect, useState } from 'preact/hooks';
import { toConsoleError, type ListPage, type Query } from '../../../console/web/api/call.js';
import { fetchRequests, type LedgerRequest } from '../../../console/web/api/ledger.js';
import { toast } from '../../../console/web/state/toasts.js';
import { useResource, type Resource } from '../../../console/web/state/use-resource.js';

const pageSize = 50;

export interface Pages {
  readonly first: Resource<ListPage<LedgerRequest>>;
  /** Rows of the further pages. */
  readonly older: readonly LedgerRequest[];
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly more: () => void;
}

interface Older {
  readonly key: string;
  readonly first: ListPage<LedgerRequest> | undefined;
  readonly rows: readonly LedgerRequest[];
  readonly cursor: string | null;
}

/** Loads past requests page by page; a new `key` starts over. `queryOf` gives the filters and times at that moment. */
export function usePages(key: string, queryOf: () => Query): Pages {
  const first = useResource(key, (signal) => fetchRequests({ ...queryOf(), limit: pageSize }, signal));
  const [older, setOlder] = useState<Older>({ key, first: undefined, rows: [], cursor: null });
  const [isLoadingMore, setLoadingMore] = useState(false);
  useEffect(() => {
    const { data } = first;
    if (data) setOlder((last) => (last.key === key ? reloaded(last, data) : opened(key, data)));
  }, [first.data]);
  const load = async () => {
    setLoadingMore(true);
    try {
      const page = await fetchRequests({ ...queryOf(), limit: pageSize, cursor: older.cursor });
      setOlder((last) => ({ ...last, rows: [...last.rows, ...page.data], cursor: page.next_cursor }));
    } catch (error) {
      toast(toConsoleError(error).message, 'bad');
    } finally {
      setLoadingMore(false);
    }
  };
  const isOurs = older.first === first.data;
  return {
    first,
    older: isOurs ? older.rows : [],
    hasMore: isOurs && older.cursor !== null,
    isLoadingMore,
    more: () => void load(),
  };
}

function opened(key: string, first: ListPage<LedgerRequest>): Older {
  return { key, first, rows: [], cursor: first.next_cursor };
}

/**
 * Updates the older rows after a reload of the first page: rows that new requests have pushed off it become
 * older ones.
 */
function reloaded(last: Older, first: ListPage<LedgerRequest>): Older {
  if (!last.first) return opened(last.key, first);
  return { ...last, first, rows: [...last.rows, ...last.first.data] };
}
