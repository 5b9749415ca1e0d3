import type Koa from 'koa';
import { credentialNames } from '../../kit/credential-names.js';
import type { GatewayState } from '../../plugin/index.js';
import type { WireContext } from './wire/protocol.js';

/** Context of a request for a child process, beside the state. */
export function contextOf(ctx: Koa.Context): WireContext {
  const { requestId, operation, format, trace } = ctx.state as Pick<
    GatewayState,
    'requestId' | 'operation' | 'format' | 'trace'
  >; // of the core
  const headers = Object.entries(ctx.headers).flatMap(([name, value]) =>
    value === undefined || credentialNames.has(name) || secretNames.test(name)
      ? []
      : [[name, value] as const],
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

/** Names of further headers that may hold a key, such as that of another format. */
const secretNames = /(?:^|-)(?:auth|credential|key|password|secret|signature|token)s?$/i;
