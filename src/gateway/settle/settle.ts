import type { ExchangesOptions } from '../../engine/http/exchanges.js';
import type { AppendedRow, LedgerRow } from '../../state/ledger/contract.js';
import { settledRequest } from '../plugin-events.js';
import { ledgerRowOf } from './row.js';
import type { RequestWatches } from '../request-watches.js';
import { knownSecrets, shownCodes } from './request-mask.js';
import { requestMoney, type PriceOf } from './money.js';
import { recordOf } from './record.js';
import type { Runtime } from '../runtime.js';
import type { Services } from '../services.js';
import { logRequest } from './request-log.js';

/** Parts of a gateway that record what has ended. */
export type SettlingParts = Pick<Services, 'log' | 'now' | 'ledger' | 'slots' | 'events'> & {
  readonly runtime: () => Pick<Runtime, 'config' | 'pipeline'>;
  readonly priceOf: PriceOf;
  /** Name of a session in the ledger, by its sticky key. */
  readonly sessionName: (stickyKey: string) => string;
  readonly watch: RequestWatches;
};

/** Work after each response: log line, for model calls the ledger row, and notifications of the extensions. */
export function recordOnSettled({
  log,
  now,
  ledger,
  priceOf,
  sessionName,
  slots,
  events,
  runtime,
  watch,
}: SettlingParts): ExchangesOptions['onSettled'] {
  const secrets = knownSecrets(slots, runtime);
  return (exchange, outcome) => {
    const codeOf = shownCodes(exchange, secrets);
    exchange.state.trace.showCodes(codeOf);
    const record = recordOf(exchange, outcome, now(), codeOf);
    const money = requestMoney(exchange.state.trace, record, priceOf);
    const { cost } = record.calls.length > 0 ? money : {};
    if (runtime().config.log.access) logRequest(log, record, cost);
    const row = ledgerRowOf(exchange, record, money, sessionName);
    if (!row) return watch.settled?.({ exchange, record, money, row });
    const recorded = { exchange, record, money, row };
    watch.complete?.(recorded);
    ledger.write(row, exchange.counted);
    const shown = row.errorTexts === undefined ? row : withoutErrorTexts(row);
    if (events.has('request.settled')) events.emit('request.settled', settledRequest(shown));
    return watch.settled?.(shown === row ? recorded : { ...recorded, row: shown });
  };
}

/** The row for general display, without the texts of errors. */
export function withoutErrorTexts({ errorTexts: _, ...row }: AppendedRow): LedgerRow {
  return row;
}
