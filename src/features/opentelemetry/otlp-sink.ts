import { unescape } from 'node:querystring';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { Pool } from 'undici';
import type { ExportSettings } from '../../config/sections/telemetry.js';
import { within } from '../../kit/time/within.js';
import type { Clock, Logger } from '../../plugin/index.js';
import { OtlpTransport } from './otlp-transport.js';
import { FinishedSpan } from './finished-span.js';
import { SpanQueue } from './span-queue.js';
import { spanSender } from './span-sender.js';
import type { SpanSink } from './tracing.js';

/** Service that the spans belong to. */
interface Service {
  readonly name: string;
  readonly version: string;
  readonly instance: string;
}

interface OtlpOptions {
  readonly exports: Omit<ExportSettings, 'unusable'>;
  readonly service: Service;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Sink that sends spans to a collector by OTLP over HTTP, in batches from a bounded queue. */
export function openOtlpSink({ exports, service, log, clock }: OtlpOptions): SpanSink {
  const { protocol, compression, timeoutMs } = exports;
  const headers = { 'user-agent': `gw2api/${service.version}`, ...exports.headers };
  const target = targetOf({ ...exports, headers });
  const losses = new SpanLosses(log, clock);
  const closing = new AbortController();
  const dispatcher = new Pool(new URL(target.url).origin, { connections: 1 });
  const isCompressed = compression === 'gzip';
  const transport = new OtlpTransport({ ...target, isCompressed, dispatcher, clock, signal: closing.signal });
  const onLost = (spans: number, error: unknown) => losses.add(spans, error);
  const queue = new SpanQueue({
    send: spanSender({ protocol, timeoutMs, transport, onLost }),
    onDropped: (spans) => onLost(spans, new Error('The queue of spans is full.')),
  });
  const resource = resourceOf(service);
  return {
    add(spans) {
      const offsetMs = clock.now() - performance.now(); // `timeOrigin` misses what sets the clock later
      queue.add(spans.map((span) => new FinishedSpan(span, { resource, offsetMs })));
    },
    async close() {
      const closed = queue.close();
      const reason = new Error('The gateway closed before the collector answered.');
      await within(closed, closeMs, 'no answer').catch(() => closing.abort(reason));
      await closed; // at once, as every export fails now
      await dispatcher.destroy();
      losses.close();
    },
  };
}

const closeMs = 3000;

function resourceOf({ name, version, instance }: Service) {
  return resourceFromAttributes({
    'service.name': name,
    'service.version': version,
    'service.instance.id': instance,
    'telemetry.sdk.name': 'gw2api',
    'telemetry.sdk.language': 'nodejs',
    'telemetry.sdk.version': version,
  });
}

type TargetSettings = Pick<ExportSettings, 'endpoint' | 'headers' | 'protocol'>;

const contentTypes = { 'http/json': 'application/json', 'http/protobuf': 'application/x-protobuf' } as const;

/**
 * Address and headers of exports; `/v1/traces` is added to an address that is not exact and does not end with it. A user
 * in the address becomes an `authorization`, unless the headers have one.
 */
export function targetOf({ endpoint, headers, protocol }: TargetSettings): {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
} {
  const url = new URL(endpoint.url);
  const path = url.pathname.replace(/\/+$/, '');
  if (!endpoint.isExact) url.pathname = path.endsWith('/v1/traces') ? path : `${path}/v1/traces`;
  const sent = new Headers();
  const user = `${unescape(url.username)}:${unescape(url.password)}`;
  if (user !== ':') sent.set('authorization', `Basic ${Buffer.from(user).toString('base64')}`);
  url.username = '';
  url.password = '';
  for (const [name, value] of Object.entries(headers)) sent.set(name, value);
  sent.set('content-type', contentTypes[protocol]);
  return { url: url.href, headers: Object.fromEntries(sent) };
}

/** Log of lost spans: the first at once, further ones once a minute. */
class SpanLosses {
  readonly #log: Logger;
  readonly #clock: Clock;
  #spans = 0;
  #error: unknown;
  #cancelTimer: (() => void) | undefined;

  constructor(log: Logger, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  add(spans: number, error: unknown): void {
    this.#spans += spans;
    this.#error = error;
    if (!this.#cancelTimer) this.#report();
  }

  /** Logs the losses not logged yet, and stops the timer. */
  close(): void {
    this.#report();
    this.#cancelTimer?.();
  }

  #report(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#spans === 0) return;
    this.#log.warn({ err: this.#error, spans: this.#spans }, 'Spans could not be sent to telemetry.otlp.');
    this.#spans = 0;
    this.#error = undefined;
    this.#cancelTimer = this.#clock.setTimer(() => this.#report(), reportEveryMs);
  }
}

const reportEveryMs = 60_000;
