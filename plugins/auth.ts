import {
  callerKey,
  definePlugin,
  GatewayError,
  keyLimits,
  type Caller,
  type ProtocolKey,
} from 'gw2api/plugin';

/** Authentication: refuses requests without a known key (contract §5). */
export default definePlugin({
  name: 'auth',
  provides: ['caller'],
  operations: ['generate', 'count-tokens', 'models', 'usage', 'route'],
  setup(_, host) {
    return async function auth(ctx, next) {
      const found = await host.keys.check(callerKey(ctx.headers));
      if (!found) throw new GatewayError('invalid_api_key', 'This key is unknown, expired or revoked.');
      ctx.state.caller = found.kind === 'master' ? master : callerOf(found.key);
      await next();
    };
  },
});

/** Caller with the master key; shared by all requests, so no stage may modify it. */
const master: Caller = Object.freeze({ kind: 'master', keyId: 'master', name: 'master' });

function callerOf(key: ProtocolKey): Caller {
  const { id, name, models } = key;
  const limits = keyLimits(key);
  const caller = { kind: 'key', keyId: id, name } as const;
  // Most keys are unrestricted: skip the spread for them.
  return models || limits ? { ...caller, ...(models && { models }), ...(limits && { limits }) } : caller;
}
