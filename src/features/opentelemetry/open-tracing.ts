import { percentOf } from '../../kit/schema/units.js';
import { version } from '../../kit/version.js';
import type { Opened } from '../../gateway/extension.js';
import type { Gateway } from '../../gateway/gateway.js';
import { openOtlpSink } from './otlp-sink.js';
import { RequestTracing } from './request-tracing.js';
import { Tracing } from './tracing.js';

/** Traces of requests for the collector of a gateway's config, which names one. */
export function openTracing({ runtime, services }: Gateway): Opened<void> {
  const { log, live, slots, clock } = services;
  const { otlp: url = '', headers, serviceName, semconv, sample, propagate } = runtime.config.telemetry;
  const service = { name: serviceName, version, instance: live.instance };
  const tracing = new Tracing({
    conventions: semconv,
    share: percentOf(sample) / 100,
    isPropagated: propagate,
    sink: openOtlpSink({ url, headers, service, log, clock }),
  });
  const requests = new RequestTracing(tracing, slots);
  return {
    api: undefined,
    watch: { begin: (ctx) => requests.begin(ctx), settled: (ended) => requests.end(ended) },
    close: () => tracing.close(),
  };
}
