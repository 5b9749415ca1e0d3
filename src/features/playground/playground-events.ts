import type { IncomingMessage } from 'node:http';
import type { PlaygroundEvent } from './playground-run.js';
import type { Exchange } from '../../engine/http/exchange.js';
import type { LedgerRow } from '../../state/ledger/contract.js';

/** Queue of a request's events; the answer waits while nobody reads from it. */
export class PlaygroundEvents {
  readonly #events: PlaygroundEvent[] = [];
  readonly #beganMs = performance.now();
  #exchange: Exchange | undefined;
  #seen = '';
  #response: IncomingMessage | undefined;
  #isOver = false;
  #wake: () => void = () => undefined;

  constructor(requestId: string) {
    this.#push({ type: 'start', data: { request_id: requestId } });
  }

  /** Reports new stages and upstream calls. */
  look(exchange: Exchange | undefined): void {
    this.#exchange ??= exchange;
    if (!this.#exchange) return;
    const { stages, calls } = this.#exchange.state.trace;
    const seen = JSON.stringify([stages.length, calls.map(({ slot, code, ms }) => [slot, code, ms > 0])]);
    if (seen === this.#seen) return;
    this.#seen = seen;
    this.#push({
      type: 'progress',
      data: {
        ms: Math.round(performance.now() - this.#beganMs),
        stages: stages.map(({ stage, ms, skipped = false }) => ({ stage, ms, skipped })),
        calls: calls.map(({ slot, ms, code = null }) => ({ slot, ms, code })),
      },
    });
  }

  read(response: IncomingMessage): void {
    this.#response = response;
    const { statusCode = 0, headers } = response;
    const shown = Object.entries(headers).filter(([name]) =>
      /^(?:x-gw-|x-request-id|retry-after|content-type)/.test(name),
    );
    this.#push({
      type: 'head',
      data: {
        status: statusCode,
        headers: Object.fromEntries(shown.map(([name, text]) => [name, String(text)])),
      },
    });
    response.setEncoding('utf8').on('error', () => undefined); // `close` of the request follows
    response.on('data', (text: string) => {
      this.#push({ type: 'data', data: { text } });
      if (this.#events.length > maxWaiting) response.pause();
    });
  }

  end(row: LedgerRow | undefined): void {
    this.look(undefined);
    this.#push({ type: 'done', row });
    this.#isOver = true;
    this.#wake();
  }

  async *list(): AsyncGenerator<PlaygroundEvent> {
    for (;;) {
      const event = this.#events.shift();
      if (event) yield event;
      else if (this.#isOver) return;
      else {
        this.#response?.resume();
        await new Promise<void>((resolve) => void (this.#wake = resolve));
      }
    }
  }

  #push(event: PlaygroundEvent): void {
    this.#events.push(event);
    this.#wake();
  }
}

/** Events that may wait for the operator to read them. */
const maxWaiting = 100;
