import type { Extension } from '../../gateway/gateway.js';

/** Spans of requests for the collector of the config. */
export const opentelemetry: Extension<void> = {
  name: 'opentelemetry',
  starts: ({ telemetry }, { dry, isCheck = false }) => telemetry.exports !== undefined && !dry && !isCheck,
  open: async (gateway) => {
    const { exports } = gateway.runtime.config.telemetry;
    if (!exports) return { api: undefined };
    return (await import('./open-tracing.js')).openTracing(gateway, exports);
  },
};
