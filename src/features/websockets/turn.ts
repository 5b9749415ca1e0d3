import type { ClientRequest, IncomingMessage } from 'node:http';
import { createParser } from 'eventsource-parser';
import { CollectedBytes } from '../../plugin/raw/index.js';

/** Receiver of the messages of an answer. */
export interface TurnSink {
  /** Sends the messages that arrived together; false if the next ones have to wait for `onRoom`. */
  send(messages: readonly string[]): boolean;
  onRoom(callback: () => void): void;
}

/** End of a turn: the status of its answer, and undefined if there was none, or it broke off. */
export type TurnEnd = (status: number | undefined) => void;

/** One request of a WebSocket and its answer, event by event. */
export class Turn {
  readonly #request: ClientRequest;
  readonly #sink: TurnSink;
  #response: IncomingMessage | undefined;
  /** Body of an answer that is not a stream of events. */
  readonly #body = new CollectedBytes();

  constructor(request: ClientRequest, sink: TurnSink, onEnd: TurnEnd) {
    this.#request = request;
    this.#sink = sink;
    request.once('response', (response) => this.#read(response));
    request.once('close', () => {
      const isWhole = this.#response?.complete === true;
      if (isWhole && !isEventStream(this.#response)) sink.send([this.#whole()]);
      onEnd(isWhole ? this.#response?.statusCode : undefined);
    });
  }

  /** Abandons the request, which aborts it. */
  leave(): void {
    this.#request.destroy();
  }

  #read(response: IncomingMessage): void {
    this.#response = response;
    response.on('error', () => undefined); // `close` of the request follows
    if (isEventStream(response)) this.#relay(response);
    else response.on('data', (chunk: Buffer) => this.#body.add(chunk));
  }

  /** Passes the data of each event on; the stream waits while the sink has no room. */
  #relay(response: IncomingMessage): void {
    let messages: string[] = [];
    const parser = createParser({
      onEvent: ({ data }) => {
        if (data !== '[DONE]') messages.push(data);
      },
    });
    response.setEncoding('utf8').on('data', (text: string) => {
      parser.feed(text);
      const ready = messages;
      messages = [];
      if (ready.length === 0 || this.#sink.send(ready)) return;
      response.pause();
      this.#sink.onRoom(() => response.resume());
    });
  }

  /** The message for an answer without events: an error, or any answer of a stage. */
  #whole(): string {
    const { statusCode = 500, headers = {} } = this.#response ?? {};
    const text = this.#body.take().toString();
    if (statusCode < 400) return text;
    return errorMessage(statusCode, parsed(text), {
      'x-request-id': headers['x-request-id'],
      'retry-after': headers['retry-after'],
    });
  }
}

/** Message for an error: its body, with the HTTP status and the headers beside it. */
export function errorMessage(
  status: number,
  body: object,
  headers: Readonly<Record<string, string | string[] | undefined>> = {},
): string {
  return JSON.stringify({ type: 'error', status, ...body, headers });
}

function isEventStream(response: IncomingMessage | undefined): boolean {
  return /^text\/event-stream/i.test(response?.headers['content-type'] ?? '');
}

function parsed(text: string): object {
  try {
    return Object(JSON.parse(text)) as object;
  } catch {
    return { error: { type: 'api_error', code: 'internal', message: text } }; // a stage's own answer in plain text
  }
}
