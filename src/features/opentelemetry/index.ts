import type { Extension } from '../../gateway/gateway.js';

/** Spans of requests for the collector of the config. */
export const opentelemetry: Extension<void> = {
  name: 'opentelemetry',
  starts: ({ telemetry }, { dry, isCheck = false }) =>
    telemetry.enabled && telemetry.otlp !== undefined && !dry && !isCheck,
  open: async (gateway) => (await import('./open-tracing.js')).openTracing(gateway),
};
