import {
  callerKey,
  definePlugin,
  GatewayError,
  keyLimits,
  type Caller,
  type ProtocolKey,
} from 'gw2api/plugin';

/** Lets nobody pass without a known key (contract §5). */
export default definePlugin({
  name: 'auth',
  provides: ['caller'],
  operations: ['generate', 'count-tokens', 'models', 'usage', 'stored-response'],
  setup(_, host) {
    return async function auth(ctx, next) {
      const found = await host.keys.check(callerKey(ctx.headers));
      if (!found) throw new GatewayError('invalid_api_key', 'This key is unknown, expired or revoked.');
      ctx.state.caller = found.kind === 'master' ? master : callerOf(found.key);
      await next();
    };
  },
});

/** One for all requests: no stage may write into it. */
const master: Caller = Object.freeze({ kind: 'master', keyId: 'master', name: 'master' });

function callerOf(key: ProtocolKey): Caller {
  const { id, name, models } = key;
  const limits = keyLimits(key);
  const caller = { kind: 'key', keyId: id, name } as const;
  // Most may use everything; to spread nothing in takes its time too.
  return models || limits ? { ...caller, ...(models && { models }), ...(limits && { limits }) } : caller;
}
