import type { IncomingHttpHeaders } from 'node:http';
import { definePlugin, Duration, durationMs, stickyKey, Type, type GatewayState } from 'gw2api/plugin';
import { callSignal } from 'gw2api/plugin/raw';

/** Says how the calls of a request are given slots: the same one for all requests of a session (contract §3, §4.6). */
export default definePlugin({
  name: 'slot-pick',
  requires: ['request', 'caller', 'body'],
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
    const fields = stickyFrom.map((name) => ({ path: name.split('.'), header: name.toLowerCase() }));
    return function slotPick(ctx, next) {
      const { state } = ctx;
      const key = stickyKey(state.caller.keyId, ctx.headers, namesIn(ctx.headers, fields, state));
      state.picker = host.slots.picker({
        ...(key && { sticky: { key, ttlMs } }),
        policy,
        ...(slots && { slots }),
        caller: state.caller,
        queueTimeoutMs,
        signal: callSignal(state),
      });
      return next();
    };
  },
});

/** Source of a session name: a path into the body, and the header of the same name. */
interface StickyField {
  readonly path: readonly string[];
  readonly header: string;
}

/** Values of all sources: in the body, in the request decoded from it, in the headers. */
function namesIn(
  headers: IncomingHttpHeaders,
  fields: readonly StickyField[],
  { body, request }: Pick<GatewayState, 'body' | 'request'>,
): readonly unknown[] {
  const names: unknown[] = [];
  for (const { path, header } of fields)
    names.push(lookUp(body, path), lookUp(request, path), headers[header]);
  return names;
}

/** Value at a dotted path: `metadata.user_id`. */
function lookUp(source: unknown, path: readonly string[]): unknown {
  let value = source;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name]; // an object with that property
  }
  return value;
}
