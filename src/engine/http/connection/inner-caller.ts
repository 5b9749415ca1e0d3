import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { createParser } from 'eventsource-parser';
import type { Clock } from '../../../plugin/index.js';

/** Request as a caller sends it. */
export interface CallerRequest {
  /** Default: POST with a body, else GET. */
  readonly method?: string;
  /** Path with its query, such as `/v1/messages`. */
  readonly path: string;
  /** Body: a text is sent unchanged, anything else as JSON. */
  readonly body?: unknown;
  /** The caller disconnects after so many events of the answer, or after so many milliseconds of the clock. */
  readonly leave?: { readonly afterEvents?: number; readonly afterMs?: number };
}

/** An event of a streamed answer as its caller received it. */
export interface ReceivedEvent {
  readonly event?: string;
  /** Parsed JSON, else the text (`[DONE]`). */
  readonly data: unknown;
}

/** Answer as a caller has received it. */
export interface Received {
  /** 499 if the caller disconnected before it was known. */
  readonly status: number;
  /** Lower case; several of one name joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly events: readonly ReceivedEvent[];
  /** True if the answer ended completely. */
  readonly complete: boolean;
  /** On the clock, since the request. */
  readonly firstEventMs?: number;
  readonly durationMs: number;
}

/** Max characters of an answer that is kept. */
const maxText = 64 * 1024 * 1024;

/** Sends a request over `socket`, and reads its answer as an SDK does. Never throws: a broken connection is an answer too. */
export function send(
  { path, method, body, leave }: CallerRequest,
  headers: Readonly<Record<string, string>>,
  socket: Duplex,
  clock: Clock,
): Promise<Received> {
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  const request = httpRequest({
    createConnection: () => socket,
    method: method ?? (text === undefined ? 'GET' : 'POST'),
    path,
    headers: {
      host: 'localhost',
      ...(text !== undefined && {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      }),
      ...headers,
      connection: 'close',
    },
  });
  request.end(text);
  return new Reading(request, clock, leave ?? {}).done;
}

/** An answer while it arrives. */
class Reading {
  readonly done: Promise<Received>;
  readonly #request: ClientRequest;
  readonly #clock: Clock;
  readonly #startedMs: number;
  readonly #leave: NonNullable<CallerRequest['leave']>;
  readonly #events: ReceivedEvent[] = [];
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({ onEvent: ({ event, data }) => this.#onEvent(event, data) });
  #response: IncomingMessage | undefined;
  #text = '';
  #hasLeft = false;
  #firstEventAtMs: number | undefined;

  constructor(request: ClientRequest, clock: Clock, leave: NonNullable<CallerRequest['leave']>) {
    this.#request = request;
    this.#clock = clock;
    this.#leave = leave;
    this.#startedMs = clock.monotonicMs();
    const cancel =
      leave.afterMs === undefined ? undefined : clock.setTimer(() => request.destroy(), leave.afterMs);
    this.done = new Promise((resolve) => {
      request.once('response', (response) => this.#read(response));
      request.on('error', () => undefined); // `close` follows
      request.once('close', () => {
        cancel?.();
        resolve(this.#received());
      });
    });
  }

  #read(response: IncomingMessage): void {
    this.#response = response;
    const isStream = /^text\/event-stream/i.test(response.headers['content-type'] ?? '');
    response.on('error', () => undefined); // `close` follows
    response.on('data', (chunk: Buffer) => {
      const text = this.#decoder.decode(chunk, { stream: true });
      this.#text += text;
      if (this.#text.length > maxText) this.#request.destroy();
      if (isStream) this.#parser.feed(text);
    });
  }

  #onEvent(event: string | undefined, data: string): void {
    const { afterEvents = Infinity } = this.#leave;
    if (this.#events.length >= afterEvents) return this.#goAway();
    this.#firstEventAtMs ??= this.#clock.monotonicMs();
    this.#events.push({ ...(event !== undefined && { event }), data: jsonOrText(data) });
    if (this.#events.length >= afterEvents) this.#goAway();
  }

  #goAway(): void {
    this.#hasLeft = true;
    this.#request.destroy();
  }

  #received(): Received {
    const { statusCode = 499, headers = {}, complete = false } = this.#response ?? {};
    return {
      status: statusCode,
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]),
      ),
      text: this.#text,
      events: this.#events,
      complete: complete && !this.#hasLeft,
      ...(this.#firstEventAtMs !== undefined && { firstEventMs: this.#firstEventAtMs - this.#startedMs }),
      durationMs: this.#clock.monotonicMs() - this.#startedMs,
    };
  }
}

/** JSON as a value; anything else as it is. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
