import type { IncomingHttpHeaders } from 'node:http';
import { definePlugin, Duration, durationMs, stickyKey, Type, type GatewayState } from 'gw2api/plugin';

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
      const key = stickyKey(state.caller.keyId, ctx.headers, namesIn(ctx.headers, places, state));
      const lease = await host.slots.lease({
        model: state.request.model,
        ...(key && { sticky: { key, ttlMs } }),
        policy,
        caller: state.caller.keyId,
        queueTimeoutMs,
        signal: state.callSignal,
      });
      state.onSettled(() => lease.release());
      state.lease = lease;
      await next();
    };
  },
});

/** Where the name of a session may stand. */
interface Place {
  readonly path: readonly string[];
  readonly header: string;
}

/** What stands at each of the places: in the body, in the request that was made of it, in the headers. */
function namesIn(
  headers: IncomingHttpHeaders,
  places: readonly Place[],
  { body, request }: Pick<GatewayState, 'body' | 'request'>,
): readonly unknown[] {
  const names: unknown[] = [];
  for (const { path, header } of places)
    names.push(lookUp(body, path), lookUp(request, path), headers[header]);
  return names;
}

/** What stands at a dotted path: `metadata.user_id`. */
function lookUp(source: unknown, path: readonly string[]): unknown {
  let value = source;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name]; // an object that has it
  }
  return value;
}
