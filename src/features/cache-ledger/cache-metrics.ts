import type { CacheLoss } from '../../state/ledger/contract.js';
import type { Counter, Metrics } from '../../plugin/core.js';

/** Metrics of tokens that the providers' prompt caches have lost. */
export class CacheMetrics {
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
