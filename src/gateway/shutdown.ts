import type { Config } from '../config/config.js';
import type { Exchanges } from '../http/exchanges.js';
import type { Listener } from '../http/listener.js';
import { GatewayError, type Logger } from '../plugin/index.js';

export interface ShutdownOptions {
  readonly log: Logger;
  readonly exchanges: Exchanges;
}

export interface CloseOptions {
  /** Something is half done, and no request is to begin any more: without the drain delay the port is closed at once. */
  readonly isBroken?: boolean;
}

/** The end of a gateway's service: requests drain, those under way finish, and those that take too long are cut short. */
export class Shutdown {
  readonly #options: ShutdownOptions;
  #isRefusing = false;

  constructor(options: ShutdownOptions) {
    this.#options = options;
  }

  /** False: new requests are refused. */
  get takesRequests(): boolean {
    return !this.#isRefusing;
  }

  /** Resolves when no request is under way and none is taken. `listener`: undefined where there has never been one. */
  async run(
    listen: Config['listen'],
    listener: Listener | undefined,
    { isBroken = false }: CloseOptions,
  ): Promise<void> {
    if (isBroken) {
      this.#isRefusing = true;
      listener?.drain.stopListening();
    } else await this.#drain(listen, listener);
    await this.#finish(listen, listener);
  }

  /** Without a delay the port stays open until the last request has ended, and new ones are refused. */
  async #drain({ drainDelayMs }: Config['listen'], listener: Listener | undefined): Promise<void> {
    this.#isRefusing = !listener || drainDelayMs === 0;
    if (!listener || this.#isRefusing) return;
    const { log, exchanges } = this.#options;
    log.info({ drainDelayMs }, 'Serving requests until the drain delay is over.');
    await listener.drain.run(drainDelayMs, exchanges.responses);
  }

  async #finish({ shutdownTimeoutMs, drainDelayMs }: Config['listen'], listener: Listener | undefined) {
    const { log, exchanges } = this.#options;
    if (exchanges.count > 0) log.info({ requests: exchanges.count }, 'Waiting for requests to finish.');
    const deadline = setTimeout(() => {
      this.#isRefusing = true;
      exchanges.abortAll(cutShort());
      listener?.hangUpSoon();
    }, shutdownTimeoutMs);
    await exchanges.idle();
    if (this.takesRequests) await listener?.drain.empty(drainDelayMs);
    this.#isRefusing = true;
    await exchanges.idle();
    clearTimeout(deadline);
  }
}

function cutShort(): GatewayError {
  const message = 'The gateway was shut down before the answer was complete.';
  return new GatewayError('shutting_down', message, { headers: { connection: 'close' } });
}
