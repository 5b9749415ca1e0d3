import type Koa from 'koa';
import type { GatewayState } from '../../plugin/index.js';
import type { WireContext } from './wire/protocol.js';

/** What a child process learns about a request, beside the state. */
export function contextOf(ctx: Koa.Context): WireContext {
  const { requestId, operation, format, trace } = ctx.state as Pick<
    GatewayState,
    'requestId' | 'operation' | 'format' | 'trace'
  >; // of the core
  const headers = Object.entries(ctx.headers).flatMap(([name, value]) =>
    value === undefined || credentials.test(name) ? [] : [[name, value] as const],
  );
  const { method, path, querystring } = ctx;
  return {
    method,
    path,
    querystring,
    headers: Object.fromEntries(headers),
    requestId,
    operation,
    format,
    pipeline: trace.pipeline,
  };
}

/** Headers that hold a key, a token or a cookie. */
const credentials = /(?:^|-)(?:authorization|auth|cookie|credential|key|password|secret|signature|token)s?$/i;
