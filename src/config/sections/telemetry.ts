import type { Static } from 'typebox';
import { Closed } from '../../kit/schema/closed.js';
import { isRequestHeader } from '../../plugin/core.js';
import { Type } from '../../plugin/index.js';
import type { SchemaError } from '../../plugin/upstream/index.js';
import { Percentage } from '../../kit/schema/units.js';

/** Schema of `telemetry:`, traces for a collector. */
export const TelemetrySchema = Closed(
  {
    enabled: Type.Boolean({ default: true }),
    otlp: Type.Optional(Type.String({ minLength: 1 })),
    headers: Type.Record(Type.String(), Type.String({ secret: true }), { default: {} }),
    semconv: Type.Enum(['1.36', 'latest'], { default: 'latest' }),
    sample: Percentage({ default: '100%' }),
    serviceName: Type.String({ minLength: 1, default: 'gw2api' }),
    propagate: Type.Boolean({ default: false }),
  },
  { default: {} },
);

/** Rules for `telemetry:`; messages do not repeat the address or a header, which may hold a secret. */
export function telemetryErrors({ otlp, headers }: Static<typeof TelemetrySchema>): readonly SchemaError[] {
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
