import type { RouterContext } from '@koa/router';
import type { CoreContext } from '../../engine/http/exchange.js';
import type { SlotPool } from '../../engine/slots/pool/pool.js';
import type { Ended, EndedCall } from '../../gateway/extension.js';
import type { TracedSlot } from './traced-request.js';
import { RequestSpan, type Tracing } from './tracing.js';

/** Traces of requests to the formats and about models, for a collector. */
export class RequestTracing {
  readonly #tracing: Tracing;
  readonly #slots: Pick<SlotPool, 'get'>;

  constructor(tracing: Tracing, slots: Pick<SlotPool, 'get'>) {
    this.#tracing = tracing;
    this.#slots = slots;
  }

  begin({ headers, state }: CoreContext): void {
    state.trace.upstream.ids = this.#tracing.begin(headers);
  }

  /** Exports a request whose response has closed. */
  end({ exchange: { ctx, state }, record, row }: Ended): void {
    const { ids: span } = state.trace.upstream;
    if (!(span instanceof RequestSpan)) return;
    this.#tracing.end({
      context: span.context,
      beganMs: span.beganMs,
      record,
      endedMs: performance.now(),
      stages: state.trace.stages,
      calls: state.trace.calls,
      route: routeOf(ctx),
      sent: state.request,
      row,
      slotOf: (id) => this.#slotOf(id),
    });
  }

  /** Exports a call that a stage made for a request of a trace. */
  endCall({ call, record, row }: EndedCall): void {
    const { trace, request } = call.state;
    const { ids: span } = trace.upstream;
    if (!(span instanceof RequestSpan)) return;
    this.#tracing.end({
      context: span.context,
      call,
      beganMs: call.beganMs,
      record,
      endedMs: performance.now(),
      stages: trace.stages,
      calls: trace.calls,
      route: '',
      sent: request,
      row,
      slotOf: (id) => this.#slotOf(id),
    });
  }

  #slotOf(id: string): TracedSlot | undefined {
    const slot = this.#slots.get(id);
    if (!slot) return undefined;
    const { plugin, options } = slot.plugins.upstream;
    const { preset } = options as { readonly preset?: unknown }; // of whatever kind it is
    return {
      kind: plugin.name,
      preset: typeof preset === 'string' ? preset : undefined,
      baseUrl: slot.baseUrl,
    };
  }
}

/** Route of the request as matched by the router: `/v1/responses/:id`. */
function routeOf(ctx: CoreContext): string {
  const { routerPath } = ctx as CoreContext & Pick<RouterContext, 'routerPath'>; // with it once a router has taken it
  return routerPath?.replace('{/v1}', '/v1') ?? ctx.path;
}
