import {
  answerHeaders,
  definePlugin,
  Duration,
  durationMs,
  forwardedHeaders,
  lossReport,
  withFields,
  wrapCall,
  Type,
  type Host,
  type MessagesRequest,
  type Models,
  type Operation,
  type SlotCall,
  type SlotLease,
  type StageCall,
  type StageContext,
} from '@gw2api/gateway/plugin';
import { callSignal } from '@gw2api/gateway/plugin/raw';
import { isHeaderValue } from '@gw2api/gateway/plugin/upstream';
import { countTokens, type CallersError } from './shared/count-tokens.js';
import { failoverCounter } from './shared/failovers.js';
import { modelCall, type CallHooks } from './shared/model-call.js';
import { RefusedParts } from './shared/taken-back/taken-back.js';

/** Calls the upstream, with failover to another slot before the commit point. */
export default definePlugin({
  name: 'upstream-call',
  api: 1,
  requires: ['request', 'delivery', 'picker'],
  reads: ['estimatesCount'],
  provides: ['reply', 'count'],
  seals: ['request', 'picker', 'interceptors'],
  operations: ['generate', 'count-tokens'],
  options: Type.Object({
    attempts: Type.Integer({
      minimum: 1,
      default: 3,
      description: 'Max upstream calls for one answer.',
    }),
    headersTimeout: Duration({
      default: '60s',
      description: 'How long an upstream may take to begin its answer.',
    }),
    firstTokenTimeout: Duration({
      default: '60s',
      description: 'How long after the call the first content may come; pings do not extend it.',
    }),
    waitIfWithin: Duration({
      default: '3s',
      description:
        "If a slot says when to retry (retry-after) and holds the session's cache, or is the only one: the longest time that a request waits for it. If that is longer, another slot is tried, or the answer is passed on.",
    }),
    idleTimeout: Duration({
      default: '120s',
      description: 'The longest silence after it; pings count as activity.',
    }),
    rememberRefusals: Duration({
      default: '1h',
      description:
        'How long the gateway remembers which of its own additions and translations (web_search, cache_control.ttl, an effort, …) a model of a slot has refused, and leaves them out. The refused request itself is retried without them. 0s: never.',
    }),
  }),
  setup({ attempts, ...options }, host) {
    const timeouts = {
      headersTimeoutMs: durationMs(options.headersTimeout),
      idleTimeoutMs: durationMs(options.idleTimeout),
    };
    const refusedParts = new RefusedParts(host, durationMs(options.rememberRefusals));
    const calling = {
      attempts,
      firstContentMs: durationMs(options.firstTokenTimeout),
      waitIfWithinMs: durationMs(options.waitIfWithin),
      countFailover: failoverCounter(host.metrics),
      refusedParts,
      clock: host.clock,
    };
    host.supportCalls({
      model: (call) => modelCall(call.state, calling, hooksWithoutResponse(call, host, timeouts)),
    });
    return async function upstreamCall(ctx, next) {
      const { state } = ctx;
      const prepare = preparation(ctx, host, timeouts);
      const setHeaders = callHeaders(ctx);
      const losses = lossReport(ctx.response);
      const callersError: CallersError = (error, request) => losses.callersError(error, request);
      if (state.operation === 'count-tokens') {
        const lease = await state.picker.lease(state.request);
        const { id } = lease.slot;
        setHeaders(id, 1);
        const call = prepare(state.request, lease);
        const own = { callersError, takenBack: refusedParts.forAnswer() };
        state.count = await countTokens(lease, state, call, own);
        setHeaders(id, Math.max(1, state.trace.calls.length));
      } else {
        const onCall = (slot: string, attempts: number): void => {
          losses.beginCall();
          setHeaders(slot, attempts);
        };
        const call = wrapCall(ctx, modelCall(state, calling, { prepare, onCall, callersError }));
        const reply = await call(state.request);
        state.reply = reply;
        ctx.set(answerHeaders(reply.headers));
        setHeaders(reply.slot, Math.max(reply.attempts, state.trace.calls.length)); // those that were made again, too
        if (isShort(reply.model) && isHeaderValue(reply.model)) ctx.set('x-gw-model', reply.model);
      }
      await next();
    };
  },
});

/** False for a very long name from the client, as a header of that size breaks the whole answer. */
function isShort(model: string): boolean {
  return model !== '' && model.length <= 200;
}

/**
 * Sets the headers that name the slot and the number of calls, as each call begins, so that an answer that another
 * stage makes from a failure has them, too.
 */
function callHeaders(ctx: Pick<CallContext, 'set' | 'remove'>) {
  let shown: readonly [slot?: string | undefined, attempts?: number] = [];
  return (slot: string | undefined, attempts: number): void => {
    if (slot === undefined) ctx.remove('x-gw-slot');
    else if (slot !== shown[0]) ctx.set('x-gw-slot', slot);
    if (attempts !== shown[1]) ctx.set('x-gw-attempts', String(attempts));
    shown = [slot, attempts];
  };
}

type CallContext = StageContext<'request' | 'delivery' | 'picker', never>;

/** Request whose calls are prepared. */
interface Prepared extends Pick<CallContext, 'headers' | 'search'> {
  readonly state: StageCall['state'] | CallContext['state'];
  readonly response: Parameters<typeof lossReport>[0];
}

/** Hooks of a call by `host.call`, which has no response. */
function hooksWithoutResponse(
  { state, headers }: StageCall,
  host: Host,
  timeouts: Parameters<typeof preparation>[2],
): CallHooks {
  const response = { get: () => undefined, set: () => undefined };
  return {
    prepare: preparation({ state, headers, response, search: '' }, host, timeouts),
    onCall: () => undefined,
    callersError: sameError,
  };
}

const sameError: CallersError = (error) => error;

/** Makes the calls of one request, all fields set: copies of a call then keep its hidden class. */
function preparation(
  ctx: Prepared,
  host: Host,
  { headersTimeoutMs, idleTimeoutMs }: Pick<SlotCall, 'headersTimeoutMs' | 'idleTimeoutMs'>,
): CallHooks['prepare'] {
  const { state } = ctx;
  const losses = lossReport(ctx.response);
  const { keepsBytes } = host.formats.get(state.format);
  const headers = forwardedHeaders(ctx.headers);
  return (request, lease) => ({
    request: outgoing(request, nameFor(request, lease, host.models), state.operation),
    headers,
    search: keepsBytes ? ctx.search : '',
    signal: callSignal(state),
    headersTimeoutMs,
    idleTimeoutMs,
    hasContent: undefined,
    addedSystem: state.additions.system,
    addedTools: state.additions.tools,
    addedMarkers: state.additions.markers,
    addedLimit: state.additions.limit,
    isWhole: state.delivery === 'whole',
    isTranslated: !keepsBytes,
    moved: lease.moved,
    // A request that goes up as it came needs no list of its slot's models.
    profile: keepsBytes ? host.models.find(request.model) : host.models.profile(request.model),
    unsupported: losses.unsupported,
    stickyKey: state.picker.stickyKey,
    report: (found, options) => losses.addCall(found, request, options),
    without: undefined,
    progress: undefined,
  });
}

/** Name of the request's model at the leased slot: the slot's own, else the catalog's. */
function nameFor({ model }: MessagesRequest, { upstreamModel }: SlotLease, models: Models): string {
  return upstreamModel ?? models.find(model)?.upstreamModel ?? model;
}

/** Outgoing request: with the upstream's name of the model, and streamed unless it is a token count. */
function outgoing(request: MessagesRequest, model: string, operation: Operation): MessagesRequest {
  return operation === 'count-tokens' ? { ...request, model } : withFields(request, { stream: true, model });
}
