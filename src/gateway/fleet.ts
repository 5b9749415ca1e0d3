import { ClusterQuery } from '../state/live/cluster-query.js';
import type { Exchanges } from '../engine/http/exchanges.js';
import type { Services } from './services.js';

type Parts = Pick<Services, 'live' | 'ledger' | 'flushOthers'> & { readonly exchanges: Exchanges };

interface InFlight {
  readonly requests: number;
  /** Number of instances that are counted. */
  readonly instances: number;
}

/** Queries answered by every instance of the cluster. */
export class Fleet {
  readonly #parts: Parts;
  readonly #inFlight: ClusterQuery<number>;

  constructor(parts: Parts) {
    const { live, exchanges } = parts;
    this.#parts = parts;
    this.#inFlight = new ClusterQuery(live, {
      topic: 'requests/in-flight',
      answer: () => exchanges.calls,
      timeoutMs: 250,
    });
  }

  /** Requests in flight, on the instances that answer. */
  async inFlight(): Promise<InFlight> {
    const others = await this.#inFlight.ask();
    const requests = others.reduce((sum, count) => sum + count, this.#parts.exchanges.calls);
    return { requests, instances: others.length + 1 };
  }

  /**
   * Flushes the ledgers of all instances, so that the ledger has all ended requests, as far as the store
   * accepts them.
   */
  async flushLedger(): Promise<void> {
    await Promise.all([this.#parts.ledger.flush(), this.#parts.flushOthers()]);
  }
}
