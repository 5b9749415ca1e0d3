import { resourceFromAttributes } from '@opentelemetry/resources';
import { Pool } from 'undici';
import type { ExportSettings } from '../../config/sections/telemetry.js';
import { within } from '../../kit/within.js';
import type { Clock, Logger } from '../../plugin/index.js';
import { targetOf } from './otlp-target.js';
import { OtlpTransport } from './otlp-transport.js';
import { FinishedSpan } from './finished-span.js';
import { SpanLosses } from './span-losses.js';
import { SpanQueue } from './span-queue.js';
import { spanSender } from './span-sender.js';
import type { SpanSink } from './tracing.js';

/** Service that the spans are of. */
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
      losses.report();
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
