import type { Config } from '../config/config.js';
import type { OpenCalls } from '../engine/pipeline/call/open-calls.js';
import type { Exchanges } from '../engine/http/exchanges.js';
import type { Listener } from '../engine/http/connection/listener.js';
import { GatewayError, type Logger } from '../plugin/index.js';

interface ShutdownOptions {
  readonly log: Logger;
  readonly exchanges: Exchanges;
  /** Calls of stages, which may outlive their requests. */
  readonly calls: OpenCalls;
}

export interface CloseOptions {
  /**
   * True after an uncaught exception: no request may begin, so the port closes at once, without the drain
   * delay.
   */
  readonly isBroken?: boolean;
}

/**
 * Shutdown of a gateway: drains it, waits for requests in flight, and aborts those that exceed the timeout.
 */
export class Shutdown {
  readonly #options: ShutdownOptions;
  #isRefusing = false;

  constructor(options: ShutdownOptions) {
    this.#options = options;
  }

  /** False if new requests are refused. */
  get takesRequests(): boolean {
    return !this.#isRefusing;
  }

  /**
   * Resolves when no request is in flight and none is accepted. `listener` is undefined if the gateway never
   * listened.
   */
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

  /**
   * Serves for the drain delay. Without a delay the port stays open until the last request has ended, and
   * new requests are refused.
   */
  async #drain({ drainDelayMs }: Config['listen'], listener: Listener | undefined): Promise<void> {
    this.#isRefusing = !listener || drainDelayMs === 0;
    if (!listener || this.#isRefusing) return;
    const { log, exchanges } = this.#options;
    log.info({ drainDelayMs }, 'Serving requests until the drain delay is over.');
    await listener.drain.run(drainDelayMs, exchanges.responses);
  }

  async #finish({ shutdownTimeoutMs, drainDelayMs }: Config['listen'], listener: Listener | undefined) {
    const { log, exchanges, calls } = this.#options;
    if (exchanges.count + calls.count > 0)
      log.info({ requests: exchanges.count, calls: calls.count }, 'Waiting for requests to finish.');
    const deadline = setTimeout(() => {
      this.#isRefusing = true;
      exchanges.abortAll(shutdownError());
      calls.abortAll(shutdownError());
      listener?.closeSoon();
    }, shutdownTimeoutMs);
    await exchanges.idle();
    if (this.takesRequests) await listener?.drain.empty(drainDelayMs);
    this.#isRefusing = true;
    await exchanges.idle();
    await calls.idle();
    calls.close();
    clearTimeout(deadline);
  }
}

function shutdownError(): GatewayError {
  const message = 'The gateway was shut down before the answer was complete.';
  return new GatewayError('shutting_down', message, { headers: { connection: 'close' } });
}

/**
 * Time limit for the steps after the last request: disposing the stages, closing the ledger and the store.
 */
export const lastStepsMs = 20_000;
