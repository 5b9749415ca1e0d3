import type { GatewayError } from '@gw2api/gateway/plugin';

/** Error body of the OpenAI formats: the default error object with `param`, null if the field at fault is unknown. */
export function openaiError({ type, code, message, param, details }: GatewayError): object {
  return { error: { type, code, message, param: param ?? null, ...(details !== undefined && { details }) } };
}
