import { Percentage } from '../../kit/schema/units.js';
import { isRequestHeader } from '../../plugin/core.js';
import { Duration, durationMs, Type } from '../../plugin/index.js';
import type { SchemaError } from '../../plugin/upstream/index.js';
import { durationText } from '../diff/durations.js';
import {
  compressions,
  isOtlpAddress,
  otlpEnvironment,
  protocols,
  type OtlpEndpoint,
  type OtlpEnvironment,
} from './otlp-environment.js';
import { section, setting, type Raw, type SettingContext } from './section.js';

const fields = {
  enabled: setting(
    Type.Optional(Type.Boolean({ examples: [false] })),
    'Default: on as soon as otlp has an address. true: also with that of OTEL_EXPORTER_OTLP_ENDPOINT.',
    { settle: (raw) => raw ?? true },
  ),
  otlp: setting(
    Type.Optional(Type.String({ minLength: 1, examples: ['http://127.0.0.1:4318'] })),
    'Where spans go, over HTTP; /v1/traces is added. Default none.',
  ),
  headers: setting(
    Type.Record(Type.String(), Type.String({ secret: true }), { default: {} }),
    'Headers of each export, such as authorization: "Bearer ${OTLP_TOKEN}".',
  ),
  protocol: setting(
    Type.Optional(Type.Enum(protocols, { examples: ['http/protobuf'] })),
    'Encoding of exports. Default OTEL_EXPORTER_OTLP_PROTOCOL, else http/json.',
  ),
  compression: setting(
    Type.Optional(Type.Enum(compressions, { examples: ['gzip'] })),
    'Compression of exports. Default OTEL_EXPORTER_OTLP_COMPRESSION, else none.',
  ),
  timeout: setting(
    Type.Optional(Duration({ examples: ['10s'] })),
    'How long an export may take with its retries; one attempt has half of it. Default OTEL_EXPORTER_OTLP_TIMEOUT, else 10s.',
    { name: '*Ms', settle: (raw) => (raw === undefined ? undefined : durationMs(raw)), show: durationText },
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

const traces = section(fields, {
  description:
    'Traces for an OpenTelemetry collector. OTEL_EXPORTER_OTLP_* fill what is left out here. Takes effect at the next start.',
  needsRestart: true,
  errors: telemetryErrors,
});

/** Section `telemetry:`, traces for a collector; headers may hold secrets. */
export const telemetry = {
  ...traces,
  settle: (raw: Raw<typeof fields>, context: SettingContext) => ({
    ...traces.settle(raw, context),
    exports: exportsOf(raw, otlpEnvironment(context.env)),
  }),
};

/** Destination and form of exported spans. */
export interface ExportSettings {
  readonly endpoint: OtlpEndpoint;
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: (typeof protocols)[number];
  readonly compression: (typeof compressions)[number];
  readonly timeoutMs: number;
  /** Names of variables of the environment with an unusable value. */
  readonly unusable: readonly string[];
}

/** Settings of exports, with those of the environment as defaults; undefined: nothing is exported. */
function exportsOf(raw: Raw<typeof fields>, env: OtlpEnvironment): ExportSettings | undefined {
  const { enabled, otlp, headers, protocol, compression, timeout } = raw;
  const ofEnvironment = enabled ? env.endpoint : undefined;
  const endpoint = otlp === undefined ? ofEnvironment : { url: otlp, isExact: false };
  if (enabled === false || !endpoint) return undefined;
  return {
    endpoint,
    headers: { ...env.headers, ...headers },
    protocol: protocol ?? env.protocol ?? 'http/json',
    compression: compression ?? env.compression ?? 'none',
    timeoutMs: timeout === undefined ? (env.timeoutMs ?? 10_000) : durationMs(timeout),
    unusable: env.unusable,
  };
}

/** Section `log:`. */
export const log = section({
  access: setting(
    Type.Boolean({ default: true }),
    'Writes a line to standard output for each request. false: only warnings, errors and operator actions.',
  ),
});

/** Rules for `telemetry:`; messages do not repeat the address or a header, which may hold a secret. */
function telemetryErrors(raw: Raw<typeof fields>, { env }: SettingContext): readonly SchemaError[] {
  const { enabled, otlp, headers, timeout } = raw;
  const address = 'an address such as http://127.0.0.1:4318';
  const broken = otlpEnvironment(env).unusable.find((name) => name.endsWith('_ENDPOINT'));
  const wrong = Object.entries(headers).filter(([name, text]) => !isRequestHeader(name, text.trim()));
  return [
    ...errorIf(otlp !== undefined && !isOtlpAddress(otlp), ['otlp'], `must be ${address}`),
    ...errorIf(
      enabled && otlp === undefined && broken !== undefined,
      ['enabled'],
      `needs ${address} in ${broken}`,
    ),
    ...wrong.flatMap(([name]) =>
      errorIf(true, ['headers', name], 'must be a header with a single-line value'),
    ),
    ...errorIf(timeout !== undefined && durationMs(timeout) === 0, ['timeout'], 'must be longer than 0s'),
  ];
}

function errorIf(
  isWrong: boolean | undefined,
  keys: readonly string[],
  message: string,
): readonly SchemaError[] {
  return isWrong ? [{ path: ['telemetry', ...keys], message }] : [];
}
