import type { FormatContext } from './contract/format.js';
import type { Host } from './contract/host.js';
import type { Logger } from './contract/logger.js';
import type { CatalogModel, Models } from './contract/models.js';
import type { Caller, GatewayState } from './contract/state.js';
import type { ResponseQuota, Store } from './contract/store.js';

/**
 * Builds the context that a stage passes to a format. `encoding`: the part that only the answering stage
 * knows.
 */
export function formatContext(
  host: Host,
  state: Pick<GatewayState, 'caller' | 'log'>,
  encoding: Encoding = defaultEncoding,
): FormatContext {
  return new StageContext(host, state, encoding);
}

type Encoding = Pick<FormatContext, 'quota' | 'drop'>;

const mb = 1024 * 1024;

const defaultEncoding: Encoding = {
  quota: { bytes: 256 * mb, count: 10_000, eachBytes: 32 * mb },
  drop: () => undefined,
};

/** Default max body size (contract §8), for a pipeline whose stages announce none. */
const defaultMaxBodyBytes = 128 * mb;

/**
 * Format context with a lazy logger, since few formats log. A class, because object literals with getters get
 * a new hidden class each time, which slows all code that reads them.
 */
class StageContext implements FormatContext {
  readonly caller: Caller;
  readonly store: Store;
  readonly models: Models;
  readonly quota: Required<ResponseQuota>;
  readonly #host: Host;
  readonly #state: Pick<GatewayState, 'log'>;
  readonly #encoding: Encoding;

  constructor(host: Host, state: Pick<GatewayState, 'caller' | 'log'>, encoding: Encoding) {
    this.caller = state.caller;
    this.store = host.store;
    this.models = host.models;
    this.quota = encoding.quota;
    this.#host = host;
    this.#state = state;
    this.#encoding = encoding;
  }

  get maxBodyBytes(): number {
    return this.#host.limits().max_body_bytes ?? defaultMaxBodyBytes;
  }

  get log(): Logger {
    return this.#state.log;
  }

  readonly findModel = (id: string): CatalogModel | undefined => this.#host.models.find(id);

  readonly pseudonym = (text: string): Promise<string> => this.#host.pseudonym(text);

  readonly now = (): number => this.#host.now();

  readonly drop = (path: string): void => this.#encoding.drop(path);
}
