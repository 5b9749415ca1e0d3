import { percentOf } from '../../kit/schema/units.js';
import { version } from '../../kit/version.js';
import type { ExportSettings } from '../../config/sections/telemetry.js';
import type { Opened } from '../../gateway/extension.js';
import type { Gateway } from '../../gateway/gateway.js';
import { openOtlpSink } from './otlp-sink.js';
import { RequestTracing } from './request-tracing.js';
import { Tracing } from './tracing.js';

/** Traces of requests for a collector. */
export function openTracing({ runtime, services }: Gateway, exports: ExportSettings): Opened<void> {
  const { log, live, slots, clock } = services;
  const { serviceName, semconv, sample, propagate } = runtime.config.telemetry;
  const service = { name: serviceName, version, instance: live.instance };
  const tracing = new Tracing({
    conventions: semconv,
    share: percentOf(sample) / 100,
    isPropagated: propagate,
    sink: openOtlpSink({ exports, service, log, clock }),
  });
  for (const variable of exports.unusable) {
    log.warn({ variable }, 'Ignored an environment variable whose value tracing does not support.');
  }
  const requests = new RequestTracing(tracing, slots);
  return {
    api: undefined,
    watch: {
      begin: (ctx) => requests.begin(ctx),
      settled: (ended) => requests.end(ended),
      callSettled: (ended) => requests.endCall(ended),
    },
    close: () => tracing.close(),
  };
}
