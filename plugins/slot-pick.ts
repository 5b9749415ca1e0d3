import { definePlugin, Duration, durationMs, stickyKey, Type } from '@gw2api/gateway/plugin';
import { callSignal } from '@gw2api/gateway/plugin/raw';

/** Says how the calls of a request are given slots: the same one for all requests of a session (contract §3, §4.6). */
export default definePlugin({
  name: 'slot-pick',
  api: 1,
  requires: ['request', 'caller', 'body'],
  reads: ['budgeted'],
  provides: ['picker'],
  operations: ['generate', 'count-tokens'],
  options: Type.Object({
    /** Slot ids or globs that may be picked; default: all. */
    slots: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })),
    /** Policy for picking a slot: least-loaded, round-robin, priority. */
    policy: Type.String({ default: 'least-loaded' }),
    /** Lifetime of a session's binding to its slot, from its last request. */
    stickyTtl: Duration({ default: '1h' }),
    /** Queue timeout: max wait while every slot is full. */
    queueTimeout: Duration({ default: '30s' }),
    /** Other names of a session, if no header of the contract is sent: a path into the body, or a header. */
    stickyFrom: Type.Array(Type.String({ minLength: 1 }), {
      default: ['prompt_cache_key', 'metadata.user_id', 'session-id'],
    }),
  }),
  setup({ slots, policy: policyName, stickyTtl, queueTimeout, stickyFrom }, host) {
    const policy = host.policies.get(policyName);
    const ttlMs = durationMs(stickyTtl);
    const queueTimeoutMs = durationMs(queueTimeout);
    return function slotPick(ctx, next) {
      const { state } = ctx;
      const { caller, body, request } = state;
      // Terms may outlive the request, which would be held with all of its body.
      let live: { readonly budgeted?: boolean } | undefined = state;
      state.onSettled(() => (live = undefined));
      const key = stickyKey(caller.keyId, ctx.headers, { from: stickyFrom, body, request });
      state.picker = host.slots.picker({
        ...(key && { sticky: { key, ttlMs } }),
        policy,
        ...(slots && { slots }),
        caller,
        isBudgeted: () => live?.budgeted === true, // by a stage below, too
        queueTimeoutMs,
        signal: callSignal(state),
        trace: state.trace,
      });
      return next();
    };
  },
});
