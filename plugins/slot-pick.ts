import { definePlugin, Duration, durationMs, stickyKey, Type } from 'gw2api/plugin';

/** Takes a place in a slot, the same one for all requests of a session (contract §3, §4.6). */
export default definePlugin({
  name: 'slot-pick',
  requires: ['request', 'caller', 'body'],
  provides: ['lease'],
  operations: ['generate', 'count-tokens'],
  options: Type.Object({
    /** How to choose among the slots that could take a request: least-loaded, round-robin, priority. */
    policy: Type.String({ default: 'least-loaded' }),
    /** How long a session stays on its slot after its last request. */
    stickyTtl: Duration({ default: '1h' }),
    /** How long a request waits where every slot is full. */
    queueTimeout: Duration({ default: '30s' }),
    /** What names a session where no header of the contract does: a path into the body, or a header. */
    stickyFrom: Type.Array(Type.String({ minLength: 1 }), {
      default: ['prompt_cache_key', 'metadata.user_id', 'session-id'],
    }),
  }),
  setup({ policy: policyName, stickyTtl, queueTimeout, stickyFrom }, host) {
    const policy = host.policies.get(policyName);
    const ttlMs = durationMs(stickyTtl);
    const queueTimeoutMs = durationMs(queueTimeout);
    const places = stickyFrom.map((name) => ({ path: name.split('.'), header: name.toLowerCase() }));
    return async function slotPick(ctx, next) {
      const { state } = ctx;
      const sources = [state.body, state.request];
      const further = places.flatMap(({ path, header }) => [
        ...sources.map((source) => lookUp(source, path)),
        ctx.headers[header],
      ]);
      const key = stickyKey(state.caller.keyId, ctx.headers, further);
      const lease = await host.slots.lease({
        model: state.request.model,
        ...(key && { sticky: { key, ttlMs } }),
        policy,
        queueTimeoutMs,
        signal: state.signal,
      });
      state.onSettled(() => lease.release());
      state.lease = lease;
      await next();
    };
  },
});

/** What stands at a dotted path: `metadata.user_id`. */
function lookUp(source: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? (value as Record<string, unknown>)[name] // an object that has it
        : undefined,
    source,
  );
}
