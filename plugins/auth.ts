import type { IncomingHttpHeaders } from 'node:http';
import { definePlugin, GatewayError, type Caller, type Keys } from 'gw2api/plugin';

/** Lets nobody pass without a known key (contract §5). */
export default definePlugin({
  name: 'auth',
  provides: ['caller'],
  operations: ['generate', 'count-tokens', 'models', 'usage', 'stored-response'],
  setup(_, host) {
    return async function auth(ctx, next) {
      ctx.state.caller = await identify(keyOf(ctx.headers), host.keys);
      await next();
    };
  },
});

/** The key that a caller sent: `x-api-key`, else `authorization: Bearer`. */
export function keyOf(headers: IncomingHttpHeaders): string | undefined {
  const apiKey = String(headers['x-api-key'] ?? '').trim();
  return apiKey || /^bearer +(\S+)\s*$/i.exec(headers.authorization ?? '')?.[1];
}

async function identify(key: string | undefined, keys: Keys): Promise<Caller> {
  if (!key)
    throw new GatewayError('missing_api_key', 'Send a key as "x-api-key" or "authorization: Bearer".');
  const found = await keys.check(key);
  if (!found) throw new GatewayError('invalid_api_key', 'This key is unknown, expired or revoked.');
  if (found.kind === 'master') return { kind: 'master', keyId: 'master', name: 'master' };
  const { id, name, models } = found.key;
  return { kind: 'key', keyId: id, name, ...(models && { models }) };
}
