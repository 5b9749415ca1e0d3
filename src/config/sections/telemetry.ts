import { Percentage } from '../../kit/schema/units.js';
import { isRequestHeader } from '../../plugin/core.js';
import { Type } from '../../plugin/index.js';
import type { SchemaError } from '../../plugin/upstream/index.js';
import { section, setting, type Raw } from './section.js';

const fields = {
  enabled: setting(
    Type.Boolean({ default: true, examples: [false] }),
    'Default true: on as soon as an address is configured.',
  ),
  otlp: setting(
    Type.Optional(Type.String({ minLength: 1, examples: ['http://127.0.0.1:4318'] })),
    'Address of the collector, which gets JSON over HTTP; /v1/traces is added. Default: none.',
  ),
  headers: setting(
    Type.Record(Type.String(), Type.String({ secret: true }), { default: {} }),
    'Headers of each export, such as authorization: "Bearer ${OTLP_TOKEN}".',
  ),
  semconv: setting(
    Type.Enum(['1.36', 'latest'], { default: 'latest' }),
    'Names of the GenAI attributes: latest, or "1.36".',
  ),
  sample: setting(
    Percentage({ default: '100%' }),
    'Share of the requests without a trace of their own; for one with a traceparent the caller decides.',
  ),
  serviceName: setting(
    Type.String({ minLength: 1, default: 'gw2api' }),
    'Name of the gateway in its traces (service.name).',
  ),
  propagate: setting(
    Type.Boolean({ default: false }),
    "Sends traceparent and tracestate to upstreams of kinds that take the caller's headers (messages).",
  ),
};

/** Section `telemetry:`, traces for a collector; headers may hold secrets. */
export const telemetry = section(fields, {
  description: 'Traces for an OpenTelemetry collector. Takes effect at the next start.',
  restart: true,
  errors: telemetryErrors,
});

/** Section `log:`. */
export const log = section({
  access: setting(
    Type.Boolean({ default: true }),
    'Writes a line to standard output for each request. false: only warnings, errors and operator actions.',
  ),
});

/** Rules for `telemetry:`; messages do not repeat the address or a header, which may hold a secret. */
function telemetryErrors({ otlp, headers }: Raw<typeof fields>): readonly SchemaError[] {
  const isUrl = otlp === undefined || (/^https?:\/\//.test(otlp) && URL.canParse(otlp));
  const address = {
    path: ['telemetry', 'otlp'],
    message: 'must be an address such as http://127.0.0.1:4318',
  };
  const wrong = Object.entries(headers).filter(([name, text]) => !isRequestHeader(name, text.trim()));
  const errors = wrong.map(([name]) => ({
    path: ['telemetry', 'headers', name],
    message: 'must be a header with a single-line value',
  }));
  return isUrl ? errors : [address, ...errors];
}
