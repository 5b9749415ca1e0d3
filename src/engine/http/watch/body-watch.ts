import type { IncomingMessage } from 'node:http';
import { GatewayError, type Clock } from '../../../plugin/index.js';
import type { Exchange } from '../exchange.js';
import { Sweep } from './sweep.js';

/** A request body that is being read and is not complete. */
export interface BodyProgress {
  readonly startedMs: number;
  readonly startBytes: number;
  /** Time of the last received byte, as far as the watch has seen. */
  lastActiveMs: number;
  bytes: number;
}

/** Min average rate after the idle timeout; a slower body is refused. */
const minBytesPerSecond = 1000;

/** True for a body to abort: idle for `idleTimeoutMs`, or slower than the min rate after that time. */
export function isTooSlow(progress: BodyProgress, nowMs: number, idleTimeoutMs: number): boolean {
  const { startedMs, startBytes, lastActiveMs, bytes } = progress;
  if (nowMs - lastActiveMs >= idleTimeoutMs) return true;
  const elapsedMs = nowMs - startedMs;
  return elapsedMs > idleTimeoutMs && ((bytes - startBytes) * 1000) / elapsedMs < minBytesPerSecond;
}

/** Aborts requests whose bodies arrive too slowly; readers are notified by the request's signal. */
export class BodyWatch {
  readonly #idleTimeoutMs: number;
  readonly #requests: () => readonly Exchange[];
  readonly #progress = new WeakMap<Exchange, BodyProgress>();
  readonly #givenUp = new WeakMap<Exchange, number>();
  readonly #sweep: Sweep;

  constructor(requests: () => readonly Exchange[], idleTimeoutMs: number, clock: Clock) {
    this.#requests = requests;
    this.#idleTimeoutMs = idleTimeoutMs;
    this.#sweep = new Sweep(clock, idleTimeoutMs, (nowMs) => this.#look(nowMs));
  }

  /** Checks the bodies periodically until all have arrived; called for each request with a body. */
  wake(): void {
    this.#sweep.wake();
  }

  close(): void {
    this.#sweep.close();
  }

  #look(nowMs: number): void {
    for (const request of this.#requests()) {
      const { req } = request.ctx;
      if (isAwaited(req)) this.#check(request, nowMs);
      if (!req.complete && !req.destroyed) this.wake();
    }
  }

  #check(request: Exchange, nowMs: number): void {
    const givenUpMs = this.#givenUp.get(request);
    if (givenUpMs !== undefined) {
      if (nowMs - givenUpMs > answerMs) request.ctx.req.destroy(); // the reader ignores the signal
      return;
    }
    if (!isTooSlow(this.#update(request, nowMs), nowMs, this.#idleTimeoutMs)) return;
    this.#givenUp.set(request, nowMs);
    request.abort(bodyTimeout());
  }

  #update(request: Exchange, nowMs: number): BodyProgress {
    const { req } = request.ctx;
    const bytes = req.socket.bytesRead;
    let progress = this.#progress.get(request);
    if (!progress) {
      progress = { startedMs: nowMs, startBytes: bytes, lastActiveMs: nowMs, bytes };
      this.#progress.set(request, progress);
    }
    // Unread bytes are not the caller's delay.
    if (bytes !== progress.bytes || req.readableLength > 0) progress.lastActiveMs = nowMs;
    progress.bytes = bytes;
    return progress;
  }
}

/** Time limit for the answer to an aborted request. */
const answerMs = 5000;

/** True while the body is being read and there is more to come. */
function isAwaited(request: IncomingMessage): boolean {
  return !request.complete && !request.destroyed && request.readableFlowing !== null;
}

function bodyTimeout(): GatewayError {
  const message =
    'The body of the request did not arrive in time: it stalled, or arrives at less than 1 kB/s.';
  return new GatewayError('request_timeout', message);
}
