import { Percentage } from '../../kit/schema/units.js';
import { isRequestHeader } from '../../plugin/core.js';
import { Type } from '../../plugin/index.js';
import type { SchemaError } from '../../plugin/upstream/index.js';
import { section, setting, type Raw } from './section.js';

const fields = {
  enabled: setting(
    Type.Boolean({ default: true, examples: [false] }),
    'Default true: on as soon as there is an address.',
  ),
  otlp: setting(
    Type.Optional(Type.String({ minLength: 1, examples: ['http://127.0.0.1:4318'] })),
    'Where spans go, in JSON over HTTP; /v1/traces is added. Default none.',
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
    "Of the requests that come without a trace; one with a traceparent keeps the caller's decision.",
  ),
  serviceName: setting(
    Type.String({ minLength: 1, default: 'gw2api' }),
    'Name of the gateway in its traces (service.name).',
  ),
  propagate: setting(
    Type.Boolean({ default: false }),
    'Upstream calls get traceparent and tracestate: of kinds that take headers of the caller (messages).',
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
    'A line on standard output for each request. false: warnings, errors and the acts of operators stay.',
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
    message: 'must be a header with a value of one line',
  }));
  return isUrl ? errors : [address, ...errors];
}
