import type { OutputConfig } from '@gw2api/gateway/plugin';
import { present } from './body.js';

/** The form that the caller wants the answer in; a schema is absent if any JSON object will do. */
export interface OutputParams {
  readonly schema?: Readonly<Record<string, unknown>> | null | undefined;
  readonly name?: string | null | undefined;
  readonly strict?: boolean | null | undefined;
  readonly description?: string | null | undefined;
}

/** `output_config.format` with all that the caller said; each upstream fits the schema to its receiver. */
export function outputFormat({ schema, name, strict, description }: OutputParams): OutputConfig['format'] {
  if (!schema) return { type: 'json_object' };
  return {
    type: 'json_schema',
    schema,
    ...present({
      name: name ?? undefined,
      strict: strict ?? undefined,
      description: description ?? undefined,
    }),
  };
}
