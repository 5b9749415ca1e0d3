import type { MessagesRequest } from '@gw2api/gateway/plugin';

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
