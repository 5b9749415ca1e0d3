import type { GatewayError } from '../../plugin/index.js';

/** The format's own codes for what has one; the clients wait and try again by them. */
const codes: Readonly<Record<string, string>> = {
  rate_limit_error: 'rate_limit_exceeded',
  invalid_request_error: 'invalid_prompt',
};

/** `error` of a failed response. */
export function responsesError({ type, message }: GatewayError): { code: string; message: string } {
  const code = Object.hasOwn(codes, type) ? codes[type] : undefined;
  return { code: code ?? 'server_error', message };
}
