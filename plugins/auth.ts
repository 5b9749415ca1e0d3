import { callerKey, definePlugin, GatewayError, keyLimits, type Caller, type Keys } from 'gw2api/plugin';

/** Lets nobody pass without a known key (contract §5). */
export default definePlugin({
  name: 'auth',
  provides: ['caller'],
  operations: ['generate', 'count-tokens', 'models', 'usage', 'stored-response'],
  setup(_, host) {
    return async function auth(ctx, next) {
      ctx.state.caller = await identify(callerKey(ctx.headers), host.keys);
      await next();
    };
  },
});

async function identify(key: string, keys: Keys): Promise<Caller> {
  const found = await keys.check(key);
  if (!found) throw new GatewayError('invalid_api_key', 'This key is unknown, expired or revoked.');
  if (found.kind === 'master') return { kind: 'master', keyId: 'master', name: 'master' };
  const { id, name, models } = found.key;
  const limits = keyLimits(found.key);
  return { kind: 'key', keyId: id, name, ...(models && { models }), ...(limits && { limits }) };
}
