import type { MessagesRequest, OutputConfig, TextBlock } from '@gw2api/gateway/plugin';

export type OutputFormat = NonNullable<OutputConfig['format']>;

/** Schema of a format with its description; undefined if any object will do. */
export function schemaOf(format: OutputFormat): Readonly<Record<string, unknown>> | undefined {
  const { schema, description } = format;
  if (typeof schema !== 'object' || schema === null) return undefined;
  const given = schema as Readonly<Record<string, unknown>>; // any object may be read by name
  return typeof description === 'string' && !('description' in given) ? { ...given, description } : given;
}

/** The request with a text that asks for an answer of a form; `schema`: undefined for any object. */
export function withInstruction(request: MessagesRequest, schema: object | undefined): MessagesRequest {
  const { system = [] } = request;
  const blocks = typeof system === 'string' ? [{ type: 'text', text: system } as const] : system;
  return { ...request, system: [...blocks, instructionFor(schema)] };
}

function instructionFor(schema: object | undefined): TextBlock {
  const words =
    'Answer with one valid JSON object and nothing else: no text before or after it, no code fence.';
  const form = schema && ` It conforms to this JSON Schema:\n${JSON.stringify(schema)}`;
  return { type: 'text', text: `${words}${form ?? ''}` };
}

/** The request with `output_format`, as the beta of structured outputs names it, as `output_config.format`. */
export function withOutputConfig(request: MessagesRequest): MessagesRequest {
  const { output_format: format, ...rest } = request as MessagesRequest & {
    readonly output_format?: unknown;
  };
  if (format === undefined || format === null) return request;
  const config = request.output_config ?? {};
  // Its shape is checked with that of the request.
  return {
    ...rest,
    output_config: { ...config, format: config.format ?? format } as MessagesRequest['output_config'],
  } as MessagesRequest;
}
