import type { Config } from '../../config/config.js';
import { percentOf } from '../../kit/schema/units.js';
import type { Clock, Logger } from '../../plugin/index.js';
import type { Live } from '../../plugin/core.js';
import type { SlotPool } from '../../engine/slots/pool.js';
import { openOtlpSink, Tracing } from './index.js';
import { version } from '../../kit/version.js';
import { RequestTracing } from './request-tracing.js';

interface Parts {
  readonly log: Logger;
  readonly live: Pick<Live, 'instance'>;
  readonly slots: Pick<SlotPool, 'get'>;
  readonly clock: Clock;
}

/** Traces of requests for the collector of the config; undefined: none. */
export function openTracing(
  { telemetry }: Pick<Config, 'telemetry'>,
  { log, live, slots, clock }: Parts,
): RequestTracing | undefined {
  const { enabled, otlp: url, headers, serviceName, semconv, sample, propagate } = telemetry;
  if (!enabled || url === undefined) return undefined;
  const service = { name: serviceName, version, instance: live.instance };
  const tracing = new Tracing({
    conventions: semconv,
    share: percentOf(sample) / 100,
    isPropagated: propagate,
    sink: openOtlpSink({ url, headers, service, log, clock }),
  });
  return new RequestTracing(tracing, slots);
}
