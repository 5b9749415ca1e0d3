import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '@gw2api/gateway/plugin';
import { collectBytes } from '@gw2api/gateway/plugin/raw';
import { untilAborted } from '@gw2api/gateway/plugin/upstream';
import type { FaultTarget } from './scenarios/faults.js';
import { Refusal } from './refusal.js';

/** Outcome of an exchange: answer sent, caller disconnected before its end, or socket destroyed by a scenario. */
export type Ending = 'finished' | 'aborted' | 'destroyed';

/** Made once: each error takes a stack trace. */
const exchangeEnded = new Error('The exchange has ended.');

/** One request as the simulator received it, and the progress of its answer. */
export class RecordedRequest implements FaultTarget {
  readonly method: string;
  readonly path: string;
  /** The query string with its `?`, or empty. */
  readonly search: string;
  /** Lower case; several of one name joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly requestId: string;
  readonly now: () => number;
  /** Settles as soon as the answer is sent or the connection is closed. */
  readonly closed: Promise<Ending>;
  /** Resolves when the caller first reads more slowly than the simulator writes. */
  readonly blocked: Promise<void>;
  /** The body as received; empty until it has been read. */
  text = '';
  /** The parsed body; undefined if there is none or it is not JSON. */
  body: unknown;
  /** Number of events of the answer written so far. */
  eventsWritten = 0;
  /** Bytes of the answer's body that have been written, before compression. */
  bytesWritten = 0;
  /** True while the simulator waits for the caller to read (backpressure). */
  isBlocked = false;
  readonly #clock: Clock;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #over = new AbortController();
  #ending: Ending | undefined;
  #isDestroyed = false;
  #resolveBlocked: () => void = () => undefined;

  constructor(request: IncomingMessage, response: ServerResponse, requestId: string, clock: Clock) {
    const [path = '/', search] = (request.url ?? '/').split(/(?=\?)/, 2);
    this.method = request.method ?? 'GET';
    this.path = path;
    this.search = search ?? '';
    this.headers = joinHeaders(request.headers);
    this.requestId = requestId;
    this.now = clock.now;
    this.#clock = clock;
    this.#request = request;
    this.#response = response;
    this.blocked = new Promise((resolve) => (this.#resolveBlocked = resolve));
    this.closed = new Promise((resolve) => {
      response.once('close', () => {
        this.#ending = this.#isDestroyed ? 'destroyed' : response.writableFinished ? 'finished' : 'aborted';
        this.#over.abort(exchangeEnded);
        resolve(this.#ending);
      });
    });
  }

  /** Undefined while the exchange is in progress. */
  get ending(): Ending | undefined {
    return this.#ending;
  }

  get isAborted(): boolean {
    return this.#ending === 'aborted';
  }

  /** The status that was sent; undefined before the headers. */
  get status(): number | undefined {
    return this.#response.headersSent ? this.#response.statusCode : undefined;
  }

  /** The value of `x-api-key`, else the bearer token or the access key of an AWS signature; empty if there is none. */
  get credential(): string {
    const sent = /^(?:Bearer\s+(.*)|AWS4-HMAC-SHA256 Credential=([^/,\s]+).*)$/i;
    const [, bearer, accessKey] = sent.exec(this.headers['authorization'] ?? '') ?? [];
    return (this.headers['x-api-key'] ?? bearer ?? accessKey ?? '').trim();
  }

  /** Reads the body. Throws a 413 `Refusal` if it is longer than `maxBytes`. */
  async read(maxBytes: number): Promise<void> {
    const chunks = this.#request as AsyncIterable<Buffer>; // without an encoding a request yields buffers
    this.text = (await collectBytes(chunks, maxBytes, tooLarge)).toString();
  }

  /** @internal */
  begin(status: number, headers: Readonly<Record<string, string>>): ServerResponse {
    this.#response.writeHead(status, headers);
    this.#response.flushHeaders();
    return this.#response;
  }

  /** @internal */
  answerWith(
    status: number,
    contentType: string,
    body: string,
    headers: Readonly<Record<string, string>> = {},
  ): void {
    const length = String(Buffer.byteLength(body));
    this.#response.writeHead(status, { ...headers, 'content-type': contentType, 'content-length': length });
    this.#response.end(body);
  }

  /** @internal */
  async sleep(ms: number): Promise<void> {
    let cancel: (() => void) | undefined;
    const asleep = new Promise<void>((resolve) => (cancel = this.#clock.setTimer(resolve, ms)));
    await untilAborted(asleep, this.#over.signal).finally(() => cancel?.());
  }

  /** @internal */
  destroy(): void {
    this.#isDestroyed = true;
    this.#request.socket.resetAndDestroy();
  }

  /** Closes the socket in the middle of the answer. @internal */
  cut(): void {
    this.#isDestroyed = true;
    this.#request.socket.destroy();
  }

  /** Records that a write met a full buffer. @internal */
  block(isBlocked: boolean): void {
    this.isBlocked = isBlocked;
    if (isBlocked) this.#resolveBlocked();
  }
}

function tooLarge(): Refusal {
  return new Refusal(413, 'Request exceeds the maximum size');
}

function joinHeaders(headers: IncomingMessage['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]),
  );
}
