import type { Exchange } from '../../engine/http/exchange.js';
import type { CacheLoss, LedgerRow } from '../../state/ledger/contract.js';
import type { Price, Counter, Metrics, LedgerTokens } from '../../plugin/core.js';
import type { RequestTrace } from '../../engine/trace/request-trace.js';
import { CacheLedger, type AnsweredRequest } from './cache-ledger.js';
import type { RequestRecord } from '../../gateway/settle/request-record.js';
import type { Opened } from '../../gateway/extension.js';
import type { Gateway } from '../../gateway/gateway.js';
import { exactCost, roundedCost } from '../../state/ledger/cost.js';

/** Adds the lost cache tokens of turns and their cost to ledger rows, and counts them. */
export function openCacheLedger({ services: { metrics }, priceOf }: Gateway): Opened<void> {
  const ledger = new CacheLedger();
  const counted = new CacheMetrics(metrics);
  for (const [name, fill] of Object.entries(ledger.caches)) metrics.cache(name, fill);
  return {
    api: undefined,
    watch: {
      complete({ exchange, record, row }) {
        const turn = turnOf(exchange, record, row);
        const cache = turn && ledger.add(turn);
        if (!cache) return;
        counted.lost(cache);
        row.cache = withCost(cache, row, priceOf(row.slot ?? '', record.answeredBy ?? row.model ?? ''));
      },
    },
  };
}

function withCost(loss: CacheLoss, { billed }: LedgerRow, price: Price | undefined): CacheLoss {
  const cost = price && lostCost(loss.lostTokens, billed, price);
  return cost === undefined ? loss : { ...loss, lostCost: cost };
}

/**
 * Turn of a session for the cache ledger; undefined for a request without a session or without the answer of a
 * slot.
 */
function turnOf(
  { state, startedMs }: Exchange,
  { outcome }: RequestRecord,
  { billed }: LedgerRow,
): AnsweredRequest | undefined {
  const { trace, reply, picker } = state;
  const { versions, firstEventAtMs } = trace;
  const session = picker?.stickyKey;
  if (session === undefined || reply?.slot === undefined || firstEventAtMs === undefined) return undefined;
  const { slot, model, upstreamModel = model } = reply;
  const { input, cacheRead, cacheWrite5m, cacheWrite1h } = billed;
  const writtenTokens = cacheWrite5m + cacheWrite1h;
  const isCounted = input + cacheRead + writtenTokens > 0;
  return {
    session,
    versions: versions.list,
    call: {
      slot,
      model: upstreamModel,
      startedMs,
      answeredMs: firstEventAtMs,
      readTokens: cacheRead,
      writtenTokens,
      inputTokens: input,
    },
    isWhole: outcome === 'completed' && isCounted && answeredCalls(trace) === 1,
  };
}

function answeredCalls({ calls }: RequestTrace): number {
  return calls.reduce((sum, { code }) => (code === undefined ? sum + 1 : sum), 0);
}

/** Metrics of tokens that the providers' prompt caches have lost. */
class CacheMetrics {
  readonly #tokens: Counter;

  constructor(metrics: Metrics) {
    this.#tokens = metrics.counter(
      'gw2api_cache_lost_tokens_total',
      'Prompt tokens that were in the prompt cache of an upstream and had to be paid again.',
      ['cause'],
    );
  }

  lost({ cause, lostTokens }: CacheLoss): void {
    this.#tokens.add({ cause }, lostTokens);
  }
}

/**
 * Cost of tokens that were billed as written to the cache, or as plain input, and could have been read from it:
 * nano-USD above the price of a read; undefined if the price lacks one of these.
 */
export function lostCost(lost: number, billed: LedgerTokens, price: Price): number | undefined {
  // The lost part comes first in the prompt: 1h writes, then those of 5 minutes, then what no marker covers.
  const cacheWrite1h = Math.min(lost, billed.cacheWrite1h);
  const cacheWrite5m = Math.min(lost - cacheWrite1h, billed.cacheWrite5m);
  const input = lost - cacheWrite1h - cacheWrite5m;
  const paid = exactCost({ ...none, input, cacheWrite5m, cacheWrite1h }, price);
  const asRead = exactCost({ ...none, cacheRead: lost }, price);
  return paid === undefined || asRead === undefined ? undefined : roundedCost(Math.max(0, paid - asRead));
}

const none: LedgerTokens = { input: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 };
