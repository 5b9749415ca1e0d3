import { request, type Dispatcher } from 'undici';
import { isRecord } from '../../kit/schema/record.js';
import { limited, sleep } from '../../kit/clock.js';
import type { Clock } from '../../plugin/index.js';
import { cut } from './attributes.js';

export interface ExportTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  /** Ends an export, with a last failure. */
  readonly signal: AbortSignal;
}

/** Failure of an export. */
export interface ExportFailure {
  readonly error: unknown;
  /** Spans that the collector has refused; undefined: it has taken none. */
  readonly refused?: number;
  readonly isTransient: boolean;
  /** Time after which the collector wants to be asked again. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * Sends an export; a failure that OTLP calls transient is tried again for some seconds, or as long as the collector has
 * asked for (opentelemetry.io/docs/specs/otlp, "OTLP/HTTP Throttling"). Undefined: it is done.
 */
export async function failureOfExport(
  body: Buffer,
  target: ExportTarget,
): Promise<ExportFailure | undefined> {
  const { clock, signal } = target;
  const beganMs = clock.monotonicMs();
  for (let backoffMs = firstPauseMs; ; backoffMs *= 2) {
    const failure = await failureOfAttempt(body, target);
    if (!failure?.isTransient) return failure;
    const pauseMs = pauseOf(failure, backoffMs, clock.monotonicMs() - beganMs);
    if (pauseMs === undefined) return failure;
    await sleep(clock, pauseMs, signal);
    if (signal.aborted) return failure;
  }
}

/** Pause before the next attempt, after `spentMs`: as asked for, else a backoff with jitter. Undefined: no time is left. */
function pauseOf({ retryAfterMs }: ExportFailure, backoffMs: number, spentMs: number): number | undefined {
  if (retryAfterMs !== undefined) {
    const leftMs = throttledMs - spentMs;
    return leftMs > 0 ? Math.min(Math.max(retryAfterMs, firstPauseMs), leftMs) : undefined;
  }
  const pauseMs = backoffMs * (0.5 + Math.random() / 2);
  return spentMs + pauseMs < exportMs ? pauseMs : undefined;
}

const exportMs = 10_000;

/** Max time of an export whose collector asks for pauses; the spans of further requests wait in the queue. */
const throttledMs = 60_000;
const firstPauseMs = 1000;
const answerMs = 5000;

async function failureOfAttempt(body: Buffer, target: ExportTarget): Promise<ExportFailure | undefined> {
  const { clock, signal: until } = target;
  try {
    return await limited(clock, { until, ms: answerMs }, (signal) => ask(body, target, signal));
  } catch (error) {
    return { error, isTransient: true };
  }
}

async function ask(
  body: Buffer,
  { url, headers, dispatcher, clock }: ExportTarget,
  signal: AbortSignal,
): Promise<ExportFailure | undefined> {
  const response = await request(url, { method: 'POST', headers, body, dispatcher, signal });
  const answer = await textOf(response.body); // or its connection could not be used again
  const { statusCode, headers: told } = response;
  if (statusCode >= 200 && statusCode < 300) return refusalIn(answer);
  return {
    error: new Error(`The collector answered ${statusCode}.`),
    isTransient: transientStatuses.has(statusCode),
    retryAfterMs: retryAfterOf(told['retry-after'], clock.now()),
  };
}

const transientStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Milliseconds of a `retry-after`, which has seconds or a date; undefined if it says neither. */
function retryAfterOf(header: string | string[] | undefined, nowMs: number): number | undefined {
  if (typeof header !== 'string' || header.trim() === '') return undefined;
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - nowMs : seconds * 1000;
  return Number.isNaN(ms) ? undefined : ms;
}

/** Text of an answer; '' where it is too long or does not end: the status has told if the spans were taken. */
async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > maxAnswerLength) return '';
    }
  } catch {
    return '';
  }
  return text;
}

const maxAnswerLength = 64 * 1024;

/** Failure in an answer that says that some of the spans were refused. */
function refusalIn(answer: string): ExportFailure | undefined {
  const { partialSuccess } = recordOf(answer);
  if (!isRecord(partialSuccess)) return undefined;
  const { rejectedSpans, errorMessage } = partialSuccess;
  const refused = Number(rejectedSpans);
  if (!(refused > 0)) return undefined;
  const reason = typeof errorMessage === 'string' && errorMessage !== '' ? `: ${cut(errorMessage)}` : '.';
  return { error: new Error(`The collector refused spans${reason}`), refused, isTransient: false };
}

/** Object of a JSON text; empty for any other text, as an answer may be of any kind. */
function recordOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
