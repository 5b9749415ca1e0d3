import type { IncomingHttpHeaders } from 'node:http';

/** Headers of a handshake that go with each request of its WebSocket. */
export function lastingHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string | string[]>> {
  const lasting: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !passing.test(name)) lasting[name] = value;
  return lasting;
}

/** Headers of one connection or one body, and those that would turn the events of an answer into another form. */
const passing =
  /^(?:connection|keep-alive|upgrade|http2-settings|te|trailer|transfer-encoding|expect|content-.*|accept-encoding|proxy-.*|sec-websocket-.*|x-request-id|x-gw-delivery)$/;
