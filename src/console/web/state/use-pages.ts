import { useEffect, useState } from 'preact/hooks';
import { toConsoleError, type ListPage, type Query } from '../api/call.js';
import { toast } from './toasts.js';
import { useResource, type Resource } from './use-resource.js';

const pageSize = 50;

/** Rows of a list, loaded page by page. */
interface Pages<Row> {
  readonly first: Resource<ListPage<Row>>;
  /** Rows of the further pages. */
  readonly older: readonly Row[];
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly more: () => void;
}

interface PagesOptions<Row> {
  readonly fetchPage: (page: Query, signal?: AbortSignal) => Promise<ListPage<Row>>;
  /** Keeps rows that a reload moves off the first page as older ones; by default, a reload starts over. */
  readonly keepsRows?: boolean;
}

interface Older<Row> {
  readonly key: string;
  readonly first: ListPage<Row> | undefined;
  readonly rows: readonly Row[];
  readonly cursor: string | null;
}

/** Loads a list page by page; a new `key` starts over. */
export function usePages<Row>(key: string, { fetchPage, keepsRows = false }: PagesOptions<Row>): Pages<Row> {
  const first = useResource(key, (signal) => fetchPage({ limit: pageSize }, signal));
  const [older, setOlder] = useState<Older<Row>>({ key, first: undefined, rows: [], cursor: null });
  const [isLoadingMore, setLoadingMore] = useState(false);
  const { data } = first;
  useEffect(() => {
    if (!data) return;
    setOlder((last) => (keepsRows && last.key === key ? reloaded(last, data) : opened(key, data)));
  }, [data]);
  const load = async () => {
    setLoadingMore(true);
    try {
      const page = await fetchPage({ limit: pageSize, cursor: older.cursor });
      setOlder((last) => ({ ...last, rows: [...last.rows, ...page.data], cursor: page.next_cursor }));
    } catch (error) {
      toast(toConsoleError(error).message, 'bad');
    } finally {
      setLoadingMore(false);
    }
  };
  const isOurs = older.first === data;
  return {
    first,
    older: isOurs ? older.rows : [],
    hasMore: isOurs && older.cursor !== null,
    isLoadingMore,
    more: () => void load(),
  };
}

function opened<Row>(key: string, first: ListPage<Row>): Older<Row> {
  return { key, first, rows: [], cursor: first.next_cursor };
}

/** Adds the former first page's rows to the older ones, since new rows may have displaced them. */
function reloaded<Row>(last: Older<Row>, first: ListPage<Row>): Older<Row> {
  if (!last.first) return opened(last.key, first);
  return { ...last, first, rows: [...last.rows, ...last.first.data] };
}
