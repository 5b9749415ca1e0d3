import { definePlugin, Duration, durationMs, stickyKey, Type } from '@gw2api/gateway/plugin';
import { callSignal } from '@gw2api/gateway/plugin/raw';

/** Selects slots for the calls of a request: the same one for all requests of a session. */
export default definePlugin({
  name: 'slot-pick',
  api: 1,
  requires: ['request', 'caller', 'body'],
  reads: ['budgeted'],
  provides: ['picker'],
  operations: ['generate', 'count-tokens'],
  options: Type.Object({
    slots: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        minItems: 1,
        description:
          'Ids of the slots that it may pick; * matches any text. Default: all. A key may be limited to slots, too.',
      }),
    ),
    policy: Type.String({
      default: 'least-loaded',
      description: 'least-loaded | round-robin | priority, or one that a plugin above has registered.',
    }),
    stickyTtl: Duration({
      default: '1h',
      description: 'How long a session stays on its slot after its last request.',
    }),
    queueTimeout: Duration({
      default: '30s',
      description:
        'How long to wait if every slot is full. Waiting keys take turns; the requests of one key stay in order.',
    }),
    stickyFrom: Type.Array(Type.String({ minLength: 1 }), {
      default: ['prompt_cache_key', 'metadata.user_id', 'session-id'],
      description:
        'What names a session if none of the x-session-id headers does: paths into the body, or headers.',
    }),
  }),
  setup({ slots, policy: policyName, stickyTtl, queueTimeout, stickyFrom }, host) {
    const policy = host.policies.get(policyName);
    const ttlMs = durationMs(stickyTtl);
    const queueTimeoutMs = durationMs(queueTimeout);
    host.supportCalls({ pick: () => ({ policy, queueTimeoutMs, ...(slots && { slots }) }) });
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
