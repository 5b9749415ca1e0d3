import type { IncomingHttpHeaders } from 'node:http';
import { errors, type Dispatcher } from 'undici';
import { isGatewayError, type GatewayError } from '../plugin/index.js';
import type { Connection, WayOut } from './connections.js';
import { decompress } from './decompress.js';
import { foreign, interrupted, timedOut, unreachable, type Answer } from './failure.js';
import { joinHeaders, type Headers } from './headers.js';

export interface HttpCall<Body extends BodyReader> {
  readonly slot: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Headers;
  readonly body?: Buffer;
  readonly signal: AbortSignal;
  readonly connectTimeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** Chooses who reads the body, once status and headers are there. May throw. */
  readonly read: (answer: Answer, flow: Flow) => Body;
}

/** Takes the body of an answer as it comes. Both methods return at once. */
export interface BodyReader {
  /** False where this is enough for now, until `flow.resume()`. */
  write(chunk: Buffer): boolean;
  /** The body is over, where `error` is given before its end. */
  end(error?: unknown): void;
}

/** What a body's reader may ask of the call. */
export interface Flow {
  /** Never from within `write`. */
  resume(): void;
  /** Nothing more is wanted; where the body ends soon its connection can serve again. */
  finish(): void;
  /** Nothing more is wanted, and nobody waits for it. */
  abort(): void;
}

export interface Answered<Body extends BodyReader> extends Answer {
  readonly body: Body;
}

/** Draining: the reader has all it wants, and the connection gets a moment to come to the end of the body. */
type Phase = 'connecting' | 'waiting' | 'reading' | 'draining' | 'over';

const drainMs = 1000;

/** One HTTP call, from its dispatch to the end of its body; undici calls it straight from the socket's read. */
export class Exchange<Body extends BodyReader> implements Dispatcher.DispatchHandler, Flow {
  readonly #call: HttpCall<Body>;
  #phase: Phase = 'connecting';
  #connection: Connection | undefined;
  #isReused = false;
  #connectedAtMs: number | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #sink: BodyReader | undefined;
  #resolve: (answered: Answered<Body>) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #limitMs = 0;
  #heardAtMs = 0;

  constructor(call: HttpCall<Body>) {
    this.#call = call;
  }

  /** Sends the call; resolves when the headers of its answer have come. Throws the signal's reason once it aborts. */
  send(wayOut: WayOut): Promise<Answered<Body>> {
    const { method, path, headers, body, signal, connectTimeoutMs } = this.#call;
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      this.#resolve = resolve;
      this.#reject = reject;
      signal.addEventListener('abort', this.#leave);
      this.#limit(connectTimeoutMs);
      const onConnection = (connection: Connection) => {
        this.#connection = connection;
      };
      // Our own timers are exact, undici's come up to a second late.
      const timeouts = { headersTimeout: 0, bodyTimeout: 0 };
      wayOut.dispatch({ method, path, headers, body: body ?? null, ...timeouts, onConnection }, this);
    });
  }

  /** When a connection was there for this call, by `performance.now()`; undefined before. */
  get connectedAtMs(): number | undefined {
    return this.#connectedAtMs;
  }

  /** undici has a connection. A call that was given up before is only now in reach to be ended. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#phase === 'over') {
      controller.abort(new Error('The call was given up while it waited for a connection.'));
      return;
    }
    this.#controller = controller;
    this.#connectedAtMs = performance.now();
    this.#isReused = this.#connection?.use() ?? false;
    this.#phase = 'waiting';
    this.#limit(this.#call.headersTimeoutMs);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, fields: IncomingHttpHeaders): void {
    if (status < 200) return;
    const answer = { status, headers: joinHeaders(fields) };
    const { slot, read, idleTimeoutMs } = this.#call;
    const encoding = (answer.headers['content-encoding'] ?? '').trim().toLowerCase();
    const decoded = decompress(encoding, this, (flow) => read(answer, flow));
    if (!decoded) throw foreign(slot, `the content-encoding "${encoding}"`);
    this.#sink = decoded.sink;
    this.#phase = 'reading';
    this.#limit(idleTimeoutMs);
    this.#resolve({ ...answer, body: decoded.body });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#phase !== 'reading') return;
    this.#heardAtMs = performance.now();
    if (this.#sink?.write(chunk) === false) controller.pause();
  }

  onResponseEnd(): void {
    const wasReading = this.#phase === 'reading';
    this.#close();
    if (wasReading) this.#sink?.end();
  }

  onResponseError(_: unknown, error: Error): void {
    this.#fail(isGatewayError(error) ? error : this.#explain(error));
  }

  resume(): void {
    if (!this.#controller?.paused) return;
    this.#heardAtMs = performance.now();
    this.#controller.resume();
  }

  finish(): void {
    if (this.#phase !== 'reading') return;
    this.#phase = 'draining';
    this.#call.signal.removeEventListener('abort', this.#leave);
    this.#limit(drainMs);
    this.resume();
  }

  abort(): void {
    this.#close();
    this.#controller?.abort(new Error('The call was given up.'));
  }

  readonly #leave = (): void => {
    this.#fail(this.#call.signal.reason);
    this.#controller?.abort(new Error('The call was given up.'));
  };

  #fail(error: unknown): void {
    const phase = this.#phase;
    this.#close();
    if (phase === 'reading') this.#sink?.end(error);
    else if (phase !== 'draining' && phase !== 'over') this.#reject(error);
  }

  #close(): void {
    this.#phase = 'over';
    clearTimeout(this.#timer);
    this.#call.signal.removeEventListener('abort', this.#leave);
  }

  /** Starts the time of a phase. Within it only the clock is read: no timer is touched for what arrives. */
  #limit(ms: number): void {
    this.#limitMs = ms;
    this.#heardAtMs = performance.now();
    this.#wait(ms);
  }

  #wait(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#checkTime(), ms);
  }

  /** While we hold the upstream back its silence is our doing. */
  #checkTime(): void {
    const leftMs = this.#heardAtMs + this.#limitMs - performance.now();
    if (this.#controller?.paused) this.#wait(this.#limitMs);
    else if (leftMs > 0) this.#wait(Math.ceil(leftMs));
    else this.#timeOut();
  }

  #timeOut(): void {
    this.#fail(this.#timeoutError());
    this.#controller?.abort(new Error('The call took too long.'));
  }

  #timeoutError(): GatewayError {
    const { slot } = this.#call;
    if (this.#phase === 'connecting')
      return unreachable(slot, new Error(`No connection in ${this.#limitMs} ms.`));
    const what = this.#phase === 'waiting' ? 'begin to answer' : 'go on with its answer';
    return timedOut(slot, what, this.#limitMs);
  }

  #explain(error: Error): GatewayError {
    if (this.#phase === 'reading') return interrupted(error);
    if (error instanceof errors.HTTPParserError)
      return foreign(this.#call.slot, 'something else than HTTP', error);
    return unreachable(this.#call.slot, error, this.#isReused);
  }
}
