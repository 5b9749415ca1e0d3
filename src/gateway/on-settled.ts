import type { RequestFeed } from '../console/api/request-feed.js';
import type { ExchangesOptions } from '../http/exchanges.js';
import { ledgerRowOf } from './ledger-row.js';
import type { DryParts } from './options.js';
import { recordOf } from './request-record.js';
import type { Services } from './services.js';
import { RequestLog } from '../telemetry/request-log.js';

type Parts = Pick<Services, 'log' | 'now' | 'metrics' | 'ledger'> & {
  readonly feed: RequestFeed;
  /** Sees each request too. */
  readonly also: DryParts['onSettled'] | undefined;
};

/** After each response: log line, metrics, and for model calls the ledger row. */
export function recordOnSettled({
  log,
  now,
  metrics,
  ledger,
  feed,
  also,
}: Parts): ExchangesOptions['onSettled'] {
  const requestLog = new RequestLog(metrics);
  return (exchange, outcome) => {
    const record = recordOf(exchange, outcome, now());
    requestLog.write(log, record);
    const row = ledgerRowOf(exchange, record);
    also?.(exchange, record, row);
    if (!row) return;
    ledger.write(row);
    feed.publish(row);
  };
}
