import type { RequestFeed } from '../../features/requests/request-feed.js';
import type { ExchangesOptions } from '../../engine/http/exchanges.js';
import { cacheLosses } from '../../features/cache-ledger/cache-losses.js';
import { errorTextsOf } from '../../features/requests/kept-error-texts.js';
import { ledgerRowOf } from './row.js';
import type { RequestWatches } from '../request-watches.js';
import { knownSecrets, shownCodes } from './request-mask.js';
import { requestMoney, type PriceOf } from './money.js';
import { recordOf } from './record.js';
import type { Runtime } from '../runtime.js';
import type { Services } from '../services.js';
import { CostCounter } from '../../features/metrics/cost-counter.js';
import { logRequest } from './request-log.js';
import { RequestMetrics } from '../../features/metrics/request-metrics.js';

type Parts = Pick<Services, 'log' | 'now' | 'metrics' | 'ledger' | 'cacheLedger' | 'errorTexts' | 'slots'> & {
  readonly feed: RequestFeed;
  readonly runtime: () => Pick<Runtime, 'config' | 'models' | 'pipeline'>;
  readonly priceOf: PriceOf;
  /** Name of a session in the ledger, by its sticky key. */
  readonly sessionName: (stickyKey: string) => string;
  readonly watch: RequestWatches;
};

/** After each response: log line, metrics, and for model calls the ledger row. */
export function recordOnSettled({
  log,
  now,
  metrics,
  ledger,
  cacheLedger,
  priceOf,
  sessionName,
  errorTexts,
  slots,
  feed,
  runtime,
  watch,
}: Parts): ExchangesOptions['onSettled'] {
  const modelId = (name: string) => runtime().models.find(name)?.id;
  const withLoss = cacheLosses({ cacheLedger, metrics, priceOf });
  const requestMetrics = new RequestMetrics({ metrics, modelId });
  const costs = new CostCounter(metrics);
  const secrets = knownSecrets(slots, runtime);
  return (exchange, outcome) => {
    const codeOf = shownCodes(exchange, secrets);
    exchange.state.trace.showCodes(codeOf);
    const record = recordOf(exchange, outcome, now(), codeOf);
    const money = requestMoney(exchange.state.trace, record, priceOf);
    const { cost } = record.calls.length > 0 ? money : {};
    if (runtime().config.log.access) logRequest(log, record, cost);
    requestMetrics.add(record);
    for (const call of money.paid) costs.add(call);
    const row = withLoss(ledgerRowOf(exchange, record, money, sessionName), exchange, record);
    if (row) {
      const texts = errorTexts.isOn && row.failed ? errorTextsOf(exchange, secrets) : undefined;
      ledger.write(texts ? { ...row, errorTexts: texts } : row, exchange.counted);
    }
    watch.settled?.({ exchange, record, money, row });
    if (row) feed.publish(row);
  };
}
