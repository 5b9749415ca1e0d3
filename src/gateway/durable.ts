import { ConfigError, type Config } from '../config/config.js';
import type { Caches, Live, Logger, Store } from '../plugin/index.js';
import { withFlushedUsage } from '../ledger/read-your-writes-ledger.js';
import { Housekeeper } from '../store/housekeeper.js';
import { openStore, type SecretKey } from '../store/index.js';
import { CheckedKeys } from '../keys/keys.js';
import { LedgerWriter } from '../ledger/ledger-writer.js';
import { openLive } from '../live/index.js';
import { Spool } from '../ledger/spool.js';
import { StoreError } from '../store/store-error.js';

export interface DurableOptions {
  readonly log: Logger;
  readonly masterKey: string;
  readonly secretKey?: SecretKey;
  readonly live?: Live;
  readonly now: () => number;
}

/**
 * Store, live state, keys and ledger: data that outlives the process or is shared, and its background work.
 */
export class Durable {
  readonly store: Store;
  readonly live: Live;
  readonly keys: CheckedKeys;
  readonly ledger: LedgerWriter;
  readonly #housekeeper: Housekeeper;

  /** Opens the store and the live state. Throws a ConfigError if the store cannot be opened. */
  static async open(config: Config, options: DurableOptions): Promise<Durable> {
    const store = await openConfigured(config, options);
    return new Durable(store, options.live ?? (await openLive(config.live, options)), config, options);
  }

  private constructor(
    store: Store,
    live: Live,
    { ledger: { keepDays, spool } }: Config,
    options: DurableOptions,
  ) {
    const { log, now, masterKey } = options;
    this.live = live;
    this.keys = new CheckedKeys({ masterKey, store: store.keys, log, now });
    live.messages.receive(keysTopic, () => this.keys.forget());
    const spooling = spool !== undefined && { spool: new Spool({ folder: spool }) };
    this.ledger = new LedgerWriter({ ledger: store.ledger, log, ...spooling });
    this.store = withFlushedUsage(store, this.ledger);
    this.#housekeeper = new Housekeeper({ store, live, keepDays, log, now });
  }

  /** Statistics of all in-memory caches. */
  get caches(): Caches {
    return { ...this.keys.caches, ...this.ledger.caches, ...this.store.caches, ...this.live.caches };
  }

  /** Health of the store and of the live state: true if reachable. */
  get isThere(): { readonly store: boolean; readonly live: boolean } {
    return { store: !this.store.isAway && !this.ledger.isAway, live: !this.live.isAway };
  }

  /** Invalidates the cached keys here and on the other instances, after a key has changed. */
  keysChanged(): void {
    this.keys.forget();
    this.live.messages.send(keysTopic, null);
  }

  /** Writes pending data, and closes the live state and the store. */
  async close(): Promise<void> {
    await this.#housekeeper.close();
    await Promise.all([this.keys.close(), this.ledger.close()]);
    await Promise.all([this.live.close(), this.store.close()]);
  }
}

const keysTopic = 'keys';

/** Opens the store; reports a failure as a problem of the config, with its position. */
async function openConfigured(config: Config, { log, secretKey, now }: DurableOptions): Promise<Store> {
  try {
    return await openStore(config.store, { log, now, ...(secretKey !== undefined && { secretKey }) });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new ConfigError([{ at: config.storeAt, path: 'store', message: error.message }]);
  }
}
