import { ClusterQuery } from '../live/cluster-query.js';
import type { Exchanges } from '../http/exchanges.js';
import type { Live } from '../plugin/index.js';
import type { LedgerWriter } from '../ledger/ledger-writer.js';

interface Parts {
  readonly live: Live;
  readonly exchanges: Exchanges;
  readonly ledger: LedgerWriter;
}

export interface InFlight {
  readonly requests: number;
  /** How many instances these are the requests of. */
  readonly instances: number;
}

/** What it takes all instances to say or do. */
export class Fleet {
  readonly #parts: Parts;
  readonly #inFlight: ClusterQuery<number>;
  readonly #written: ClusterQuery<true>;

  constructor(parts: Parts) {
    const { live, exchanges, ledger } = parts;
    this.#parts = parts;
    this.#inFlight = new ClusterQuery(live, {
      topic: 'requests/in-flight',
      answer: () => exchanges.calls,
      patienceMs: 250,
    });
    this.#written = new ClusterQuery(live, {
      topic: 'ledger/written',
      answer: () => ledger.flush().then(() => true as const),
      patienceMs: 2000,
    });
  }

  /** The requests under way, of those instances that answer. */
  async inFlight(): Promise<InFlight> {
    const others = await this.#inFlight.ask();
    const requests = others.reduce((sum, count) => sum + count, this.#parts.exchanges.calls);
    return { requests, instances: others.length + 1 };
  }

  /** Resolves when the ledger has the requests that have ended anywhere, as far as it takes them. */
  async written(): Promise<void> {
    await Promise.all([this.#parts.ledger.flush(), this.#written.ask()]);
  }
}
