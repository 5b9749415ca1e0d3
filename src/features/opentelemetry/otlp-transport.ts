import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { ExportResponse, IExporterTransport } from '@opentelemetry/otlp-exporter-base';
import type { Dispatcher } from 'undici';
import { limited, sleep } from '../../kit/time/clock.js';
import type { Clock } from '../../plugin/index.js';
import { collectBytes } from '../../plugin/raw/index.js';

interface TransportOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly isCompressed: boolean;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  /** Ends an export, with a last failure. */
  readonly signal: AbortSignal;
}

/** Sends exports to a collector by undici. */
export class OtlpTransport implements IExporterTransport {
  readonly #options: TransportOptions;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(options: TransportOptions) {
    this.#options = options;
    const { headers, isCompressed } = options;
    this.#headers = isCompressed ? { ...headers, 'content-encoding': 'gzip' } : headers;
  }

  /**
   * Sends an export; retries a failure that OTLP calls transient within `timeoutMs`, or for as long as the collector
   * has requested (opentelemetry.io/docs/specs/otlp, "OTLP/HTTP Throttling").
   */
  async send(data: Uint8Array, timeoutMs: number): Promise<ExportResponse> {
    const { clock, signal, isCompressed } = this.#options;
    const body = isCompressed ? await compressed(data) : data;
    const beganMs = clock.monotonicMs();
    for (let backoffMs = firstPauseMs; ; backoffMs *= 2) {
      const answer = await this.#attempt(body, timeoutMs / 2);
      if (answer.status !== 'retryable') return answer;
      const times = { backoffMs, timeoutMs, spentMs: clock.monotonicMs() - beganMs };
      const pauseMs = pauseOf(answer.retryInMillis, times);
      if (pauseMs === undefined) return answer;
      await sleep(clock, pauseMs, signal);
      if (signal.aborted) return answer;
    }
  }

  shutdown(): void {} // its opener closes the connections

  async #attempt(body: Uint8Array, ms: number): Promise<ExportResponse> {
    const { clock, signal: until } = this.#options;
    try {
      return await limited(clock, { until, ms }, (signal) => this.#ask(body, signal));
    } catch (error) {
      return { status: 'retryable', error: error instanceof Error ? error : new Error(String(error)) };
    }
  }

  async #ask(body: Uint8Array, signal: AbortSignal): Promise<ExportResponse> {
    const { url, dispatcher, clock } = this.#options;
    const headers = this.#headers;
    const { origin, pathname, search } = new URL(url);
    const path = pathname + search;
    const response = await dispatcher.request({ origin, path, method: 'POST', headers, body, signal });
    const data = await bytesOf(response.body); // or its connection could not be used again
    const { statusCode } = response;
    if (statusCode >= 200 && statusCode < 300) return { status: 'success', ...(data && { data }) };
    const error = new Error(`The collector answered ${statusCode}.`);
    if (!transientStatuses.has(statusCode)) return { status: 'failure', error };
    const retryInMillis = retryAfterOf(response.headers['retry-after'], clock.now());
    return { status: 'retryable', error, ...(retryInMillis !== undefined && { retryInMillis }) };
  }
}

const compressed = promisify(gzip);

const firstPauseMs = 1000;

/** Max time of an export whose collector requests pauses; the spans of further requests wait in the queue. */
const throttledMs = 60_000;

interface AttemptTimes {
  readonly backoffMs: number;
  readonly timeoutMs: number;
  readonly spentMs: number;
}

/** Pause before the next attempt: as requested, else a backoff with jitter. Undefined if no time is left. */
function pauseOf(askedMs: number | undefined, { backoffMs, timeoutMs, spentMs }: AttemptTimes) {
  if (askedMs !== undefined) {
    const leftMs = throttledMs - spentMs;
    return leftMs > 0 ? Math.min(Math.max(askedMs, firstPauseMs), leftMs) : undefined;
  }
  const pauseMs = backoffMs * (0.5 + Math.random() / 2);
  return spentMs + pauseMs < timeoutMs ? pauseMs : undefined;
}

const transientStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Milliseconds of a `retry-after`, in seconds or as a date; undefined if it is neither. */
function retryAfterOf(header: string | string[] | undefined, nowMs: number): number | undefined {
  if (typeof header !== 'string' || header.trim() === '') return undefined;
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - nowMs : seconds * 1000;
  return Number.isNaN(ms) ? undefined : ms;
}

/** Bytes of an answer; undefined if it is too long or breaks off, since the status alone reports the result. */
function bytesOf(body: AsyncIterable<Uint8Array>): Promise<Uint8Array | undefined> {
  return collectBytes(body, maxAnswerBytes, tooLarge).catch(() => undefined);
}

const tooLarge = () => new Error('The answer of the collector is too long.');
const maxAnswerBytes = 64 * 1024;
