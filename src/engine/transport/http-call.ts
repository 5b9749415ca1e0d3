import type { IncomingHttpHeaders } from 'node:http';
import { errors, type Dispatcher } from 'undici';
import { Deadline } from '../../kit/time/deadline.js';
import { foreign } from '../../plugin/upstream/index.js';
import { interruptedError } from '../../plugin/format/index.js';
import { isGatewayError, type Clock, type GatewayError, type ProgressReceiver } from '../../plugin/index.js';
import { joinBytes, type CallSignal } from '../../plugin/raw/index.js';
import { ReceivedAnswer } from './answer.js';
import type { BodySink, Backpressure } from './body.js';
import type { Connection, Egress } from './connections.js';
import { decompress, isKnownEncoding } from './decompress.js';
import { timedOut, unanswered, unreachable } from './failure.js';
import { joinHeaders, type Headers } from './headers.js';

export interface CallOptions {
  readonly slot: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Headers;
  readonly body?: Buffer | string | undefined;
  readonly signal: CallSignal;
  readonly connectTimeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** Time and timers of the limits; default: those of the machine. */
  readonly clock?: Clock | undefined;
  /** Exempts the answer from the idle timeout while it returns false. */
  readonly hasContent?: (() => boolean) | undefined;
  readonly progress?: ProgressReceiver | undefined;
}

/**
 * Phase of a call. Draining: the rest of the body is read and dropped, so that the connection can be reused.
 */
type Phase = 'connecting' | 'waiting' | 'reading' | 'draining' | 'over';

const drainMs = 1000;

/** Resolved promise for a microtask, which runs once the current socket read has delivered all its chunks. */
const afterThisRead = Promise.resolve();

/** One HTTP call, from its dispatch to the end of its body; undici calls it directly from the socket read. */
export class HttpCall implements Dispatcher.DispatchHandler, Backpressure {
  readonly #call: CallOptions;
  #phase: Phase = 'connecting';
  #connection: Connection | undefined;
  #isReused = false;
  #connectedAtMs: number | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #encoding = '';
  #sink: BodySink | undefined;
  #chunks: Buffer[] = [];
  /** True if a read has arrived before the body was taken. */
  #isWaiting = false;
  /** End of a body that has not been taken yet. */
  #unreadEnd: { readonly error: unknown } | undefined;
  #resolve: (answer: ReceivedAnswer) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  readonly #deadline: Deadline;

  constructor(call: CallOptions) {
    this.#call = call;
    this.#deadline = new Deadline(
      () => this.#timeOut(),
      () => this.#mayBeSilent,
      call.clock,
    );
  }

  /** Sends the call; resolves with the answer's headers. Throws the signal's reason if it aborts. */
  send(egress: Egress): Promise<ReceivedAnswer> {
    this.#call.signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#call.signal.addEventListener('abort', this.#leave);
      this.#deadline.start(this.#call.connectTimeoutMs);
      this.#dispatch(egress);
    });
  }

  /** Time when a connection was ready, by `performance.now()`; undefined before. */
  get connectedAtMs(): number | undefined {
    return this.#connectedAtMs;
  }

  get sentBytes(): number {
    const { body = '' } = this.#call;
    return Buffer.byteLength(body);
  }

  get clock(): Clock | undefined {
    return this.#call.clock;
  }

  /** Starts the call on its connection; a call that was cancelled in the queue can only now be aborted. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#phase === 'over') {
      controller.abort(new Error('The call was aborted while it waited for a connection.'));
      return;
    }
    this.#controller = controller;
    this.#connectedAtMs = performance.now();
    this.#isReused = this.#connection?.use() ?? false;
    this.#phase = 'waiting';
    this.#call.progress?.reach('sent');
    this.#deadline.start(this.#call.headersTimeoutMs);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, fields: IncomingHttpHeaders): void {
    if (status < 200) return;
    const headers = joinHeaders(fields);
    const { slot, idleTimeoutMs, progress } = this.#call;
    progress?.reach(status < 400 ? 'accepted' : 'refused');
    this.#encoding = (headers['content-encoding'] ?? '').trim().toLowerCase();
    if (!isKnownEncoding(this.#encoding)) throw foreign(slot, `the content-encoding "${this.#encoding}"`);
    this.#phase = 'reading';
    this.#deadline.start(idleTimeoutMs);
    this.#resolve(new ReceivedAnswer(this, status, headers));
  }

  /** Opens the reader of the body, which has been kept until now; called once. */
  read<Body extends BodySink>(open: (flow: Backpressure) => Body): Body {
    const { body, sink } = decompress(this.#encoding, this, open);
    this.#sink = sink;
    this.#isWaiting = false;
    if (this.#unreadEnd) this.#end(this.#unreadEnd.error);
    else if (this.#chunks.length === 0 || this.#writeRead()) this.resume();
    return body;
  }

  /** Batches the chunks of one socket read, which are delivered together afterwards. */
  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#phase !== 'reading') return;
    if (this.#chunks.push(chunk) === 1) void afterThisRead.then(this.#deliver);
    else if (this.#isWaiting) controller.pause();
  }

  onResponseEnd(): void {
    const wasReading = this.#phase === 'reading';
    this.#close();
    if (wasReading) this.#end();
  }

  onResponseError(_: unknown, error: Error): void {
    this.#fail(this.#explain(error));
  }

  resume(): void {
    if (this.#phase === 'over' || !this.#controller?.paused) return;
    this.#deadline.extend();
    this.#controller.resume();
  }

  finish(): void {
    if (this.#phase !== 'reading') return;
    this.#phase = 'draining';
    this.#call.signal.removeEventListener('abort', this.#leave);
    this.#deadline.start(drainMs);
    this.resume();
  }

  abort(): void {
    this.#close();
    this.#controller?.abort(new Error('The call was aborted.'));
  }

  /** Dispatches the call without undici's own timers, which fire up to a second late. */
  #dispatch(egress: Egress): void {
    const { method, path, headers, body = null } = this.#call;
    const { origin } = egress;
    const onConnection = (connection: Connection): void => {
      this.#connection = connection;
    };
    const options = { origin, method, path, headers, body, headersTimeout: 0, bodyTimeout: 0, onConnection };
    try {
      egress.dispatch(options, this);
    } catch (error) {
      this.#fail(error);
    }
  }

  readonly #deliver = (): void => {
    if (this.#phase !== 'reading' || this.#chunks.length === 0) return;
    this.#deadline.extend();
    if (!this.#sink) this.#isWaiting = true;
    else if (!this.#writeRead()) this.#controller?.pause();
  };

  #end(error?: unknown): void {
    if (!this.#sink) this.#unreadEnd = { error };
    else {
      if (this.#chunks.length > 0) this.#writeRead();
      this.#sink.end(error);
    }
  }

  /** Delivers the chunks of this read; returns false if the sink is full (backpressure). */
  #writeRead(): boolean {
    const chunks = this.#chunks;
    this.#chunks = [];
    return this.#sink?.write(joinBytes(chunks)) ?? true;
  }

  readonly #leave = (): void => {
    this.#fail(this.#call.signal.reason);
    this.#controller?.abort(new Error('The call was aborted.'));
  };

  #fail(error: unknown): void {
    const phase = this.#phase;
    this.#close();
    if (phase === 'reading') this.#end(error);
    else if (phase !== 'draining' && phase !== 'over') this.#reject(error);
  }

  #close(): void {
    this.#phase = 'over';
    this.#deadline.stop();
    this.#call.signal.removeEventListener('abort', this.#leave);
  }

  /**
   * True while the idle timeout must not fire: the gateway's backpressure pauses the upstream, or there is no content
   * yet, which has a separate limit.
   */
  get #mayBeSilent(): boolean {
    if (this.#controller?.paused) return true;
    return this.#phase === 'reading' && this.#call.hasContent?.() === false;
  }

  #timeOut(): void {
    this.#fail(this.#timeoutError());
    this.#controller?.abort(new Error('The call took too long.'));
  }

  #timeoutError(): GatewayError {
    const { slot } = this.#call;
    if (this.#phase === 'connecting')
      return unreachable(slot, new Error(`No connection in ${this.#deadline.limitMs} ms.`));
    const what = this.#phase === 'waiting' ? 'begin to answer' : 'continue its answer';
    return timedOut(slot, what, this.#deadline.limitMs);
  }

  #explain(error: Error): unknown {
    if (isGatewayError(error) || error instanceof errors.InvalidArgumentError) return error;
    if (this.#phase === 'reading') return interruptedError(error);
    return unanswered(this.#call.slot, error, this.#isReused);
  }
}
