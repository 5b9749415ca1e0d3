import { useEffect, useState } from 'preact/hooks';
import type { LedgerRequest } from '../../../console/web/api/ledger.js';
import { fetchSession } from '../../../console/web/api/session.js';
import { apiUrl } from '../../../console/web/api/call.js';
import { useVisible } from '../../../console/web/state/visible.js';
import { isAmong, type Filters } from '../../../console/web/scope/filters.js';

const maxKept = 200;
/** Wait for the ledger, which is written in batches. */
const ledgerLagMs = 1500;

export interface Tail {
  /** Rows received since the page was opened, newest first. */
  readonly rows: readonly LedgerRequest[];
  readonly state: 'off' | 'connecting' | 'live' | 'lost';
}

/**
 * Live tail of finished requests, while `isOn` and the tab is visible. Rows are kept during a pause and a
 * change of the filters, because the ledger is written a moment later; `onLive` is called once it contains
 * the requests from before the tail.
 */
export function useTail(filters: Filters, isOn: boolean, onLive: () => void): Tail {
  const key = JSON.stringify(filters);
  const [kept, setKept] = useState<readonly LedgerRequest[]>([]);
  const [state, setState] = useState<Tail['state']>('off');
  const isVisible = useVisible();

  useEffect(() => {
    if (!isOn || !isVisible) {
      setState('off');
      return undefined;
    }
    setState('connecting');
    const source = new EventSource(apiUrl('/requests/live', filters));
    let timer: ReturnType<typeof setTimeout> | undefined;
    source.addEventListener('open', () => {
      setState('live');
      clearTimeout(timer);
      timer = setTimeout(onLive, ledgerLagMs);
    });
    source.addEventListener('error', () => {
      setState('lost');
      // EventSource does not give the reason: this call leads to the login if the session has ended, else the
      // browser reconnects.
      void fetchSession().catch(() => setState('lost'));
    });
    source.addEventListener('request', ({ data }: MessageEvent<string>) => {
      const row = JSON.parse(data) as LedgerRequest; // page and API are of the same version
      setKept((last) => withRow(last, row));
    });
    return () => {
      clearTimeout(timer);
      source.close();
    };
  }, [key, isOn, isVisible]);

  return { rows: kept.filter((row) => isAmong(filters, row)), state };
}

function withRow(rows: readonly LedgerRequest[], row: LedgerRequest): readonly LedgerRequest[] {
  return [row, ...rows.filter(({ id }) => id !== row.id)].slice(0, maxKept);
}
