import { useEffect, useState } from 'preact/hooks';
import { panelUrl } from '../../api/call.js';
import type { LedgerRequest } from '../../api/types.js';
import { panel } from '../../api/panel.js';
import { useVisible } from '../../state/visible.js';
import { toQuery, type Filters } from './filters.js';

const mostKept = 200;

export interface Tail {
  /** What has come since the page was loaded, newest first. */
  readonly rows: readonly LedgerRequest[];
  readonly state: 'off' | 'connecting' | 'live' | 'lost';
}

/** The requests as they end, while `isOn` and the tab is seen. They are kept over a pause; `key` starts anew. */
export function useTail(key: string, filters: Filters, isOn: boolean): Tail {
  const [kept, setKept] = useState<{ key: string; rows: readonly LedgerRequest[] }>({ key, rows: [] });
  const [state, setState] = useState<Tail['state']>('off');
  const isVisible = useVisible();

  useEffect(() => {
    if (!isOn || !isVisible) {
      setState('off');
      return undefined;
    }
    setState('connecting');
    const source = new EventSource(panelUrl('/requests/live', toQuery(filters)));
    source.addEventListener('open', () => setState('live'));
    source.addEventListener('error', () => {
      setState('lost');
      // It cannot say why: an ended session leads to the login, anything else is tried again by the browser.
      void panel.session().catch(() => setState('lost'));
    });
    source.addEventListener('request', ({ data }: MessageEvent<string>) => {
      const row = JSON.parse(data) as LedgerRequest; // of the API that the page is shipped with
      setKept((last) => ({ key, rows: withRow(last.key === key ? last.rows : [], row) }));
    });
    return () => source.close();
  }, [key, isOn, isVisible]);

  return { rows: kept.key === key ? kept.rows : [], state };
}

function withRow(rows: readonly LedgerRequest[], row: LedgerRequest): readonly LedgerRequest[] {
  return [row, ...rows.filter(({ id }) => id !== row.id)].slice(0, mostKept);
}
