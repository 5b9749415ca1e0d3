import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

interface CallTerms {
  /** Number of this call among those for its model, from 1. */
  readonly nth: number;
  /** Time since the first call for its model, as if the suite took its real times. */
  readonly sinceFirstMs: number;
  /** Aborts when the provider ends. */
  readonly signal: AbortSignal;
}

/** Parts of an answer that a fault changes. */
export interface AnswerFaults {
  /** Milliseconds between the headers and the first token. */
  readonly firstTokenAfterMs?: number;
  /** Number of tokens after which the answer is cut or stalls. */
  readonly stopAt?: number;
  /** Number of the event in whose place bad JSON stands; the event follows it. */
  readonly badEventAt?: number;
  /** False: no `[DONE]`, and the connection stays open. */
  readonly isDone?: boolean;
}

/** Tokens of every whole answer. */
export const tokenCount = 60;

/** The whole answer of a model. */
export function textOf(model: string): string {
  return Array.from({ length: tokenCount }, (_, at) => wordOf(model, at)).join('');
}

function wordOf(model: string, at: number): string {
  return `${model}:${at} `;
}

/** One call of the provider, answered byte by byte. */
export class ProviderCall {
  readonly nth: number;
  readonly sinceFirstMs: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly #socket: Socket;
  readonly #signal: AbortSignal;

  constructor(socket: Socket, body: object, { nth, sinceFirstMs, signal }: CallTerms) {
    this.#socket = socket;
    this.#signal = signal;
    this.body = { ...body };
    this.nth = nth;
    this.sinceFirstMs = sinceFirstMs;
  }

  /** Ends the connection by a reset, before any byte of an answer. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  /** Resolves after that time, or when the provider ends. */
  async after(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.#signal }).catch(() => undefined); // it rejects for nothing else
  }

  /** Answers with an error. */
  refuse(
    status: number,
    code: string,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ): void {
    const type =
      status === 429 ? 'rate_limit_error' : status < 500 ? 'invalid_request_error' : 'server_error';
    const body = JSON.stringify({ error: { message, type, param: null, code } });
    const all = { 'content-type': 'application/json', 'content-length': String(body.length), ...headers };
    this.#socket.end(`${head(status, all)}${body}`);
  }

  /** Streams the answer of its model, but for what `faults` change. */
  async answer(faults: AnswerFaults = {}): Promise<void> {
    const { stopAt = Infinity, firstTokenAfterMs = 0, isDone = true } = faults;
    const model = String(this.body['model']);
    this.#socket.write(head(200, { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked' }));
    await this.after(firstTokenAfterMs);
    for (let at = 0; at < Math.min(tokenCount, stopAt); at += 1) {
      if (at + 1 === faults.badEventAt) this.#event('{"id":"chatcmpl-1","choices":[{"delta":{"content":');
      this.#chunk({ ...(at === 0 && { role: 'assistant' }), content: wordOf(model, at) });
      await this.after(tokenMs);
    }
    if (stopAt < tokenCount) return;
    this.#chunk({}, 'stop');
    const usage = { prompt_tokens: 20, completion_tokens: tokenCount, total_tokens: 20 + tokenCount };
    this.#event(JSON.stringify({ ...this.#envelope(), choices: [], usage }));
    if (!isDone) return;
    this.#event('[DONE]');
    this.#socket.end('0\r\n\r\n');
  }

  /** Ends the connection in the middle of the answer. */
  cut(): void {
    this.#socket.end();
  }

  #chunk(delta: object, finish_reason: string | null = null): void {
    this.#event(JSON.stringify({ ...this.#envelope(), choices: [{ index: 0, delta, finish_reason }] }));
  }

  #envelope(): object {
    return {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: this.body['model'],
    };
  }

  #event(data: string): void {
    const event = `data: ${data}\n\n`;
    if (this.#socket.writable) this.#socket.write(`${event.length.toString(16)}\r\n${event}\r\n`);
  }
}

/** Time between two tokens. */
const tokenMs = 5;

function head(status: number, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ ...headers, connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return [`HTTP/1.1 ${status} Whatever`, ...lines, '', ''].join('\r\n');
}
