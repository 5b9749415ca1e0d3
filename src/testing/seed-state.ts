import type Koa from 'koa';
import { noInterceptors } from '../plugin/core.js';
import type { GatewayState, Host, Outcome } from '../plugin/index.js';
import { RequestTrace } from '../engine/trace/request-trace.js';

/**
 * State seeded by the core, with the test's own values. Listeners are called before the test sees the
 * outcome.
 */
export function seedState(
  ctx: Koa.Context,
  host: Host,
  given: Partial<GatewayState> = {},
): { state: GatewayState; closed: Promise<Outcome> } {
  const closing = new AbortController();
  const listeners: Parameters<GatewayState['onSettled']>[0][] = [];
  const core = {
    requestId: 'test-request',
    operation: 'generate',
    format: 'messages',
    signal: closing.signal,
    log: host.log,
    interceptors: noInterceptors,
    additions: { system: [], tools: [] },
    onSettled: (listener) => void listeners.push(listener),
    trace: new RequestTrace(() => host.now()),
  } satisfies Partial<GatewayState>;
  const state = { ...core, ...given } as GatewayState; // stages provide the other keys, as in the gateway
  const closed = new Promise<Outcome>((resolve) => {
    ctx.res.once('close', () => {
      const outcome = state.trace.failure ? 'failed' : ctx.res.writableFinished ? 'completed' : 'abandoned';
      closing.abort();
      for (const listener of listeners) void listener(outcome);
      resolve(outcome);
    });
  });
  return { state, closed };
}
