import {
  answerHeaders,
  committed,
  definePlugin,
  Duration,
  durationMs,
  FirstContent,
  forwardedHeaders,
  lossReport,
  toGatewayError,
  withFields,
  withHeaders,
  wrapCall,
  usageMeter,
  Type,
  type CallTimer,
  type CommitOptions,
  type GatewayError,
  type GatewayState,
  type Host,
  type MessagesRequest,
  type ModelCall,
  type ModelEvent,
  type ModelReply,
  type Models,
  type Operation,
  type SlotCall,
  type SlotLease,
  type StageContext,
} from 'gw2api/plugin';
import { callSignal } from 'gw2api/plugin/raw';
import { isHeaderValue } from 'gw2api/plugin/upstream';
import { countTokens, provenance } from './shared/count-tokens.js';
import { failoverCounter, type CountFailover } from './shared/failovers.js';

/** Calls the upstream, with failover to another slot before the commit point (design §4, contract §6). */
export default definePlugin({
  name: 'upstream-call',
  api: 1,
  requires: ['request', 'delivery', 'picker'],
  provides: ['reply', 'count'],
  seals: ['request', 'picker', 'interceptors'],
  operations: ['generate', 'count-tokens'],
  options: Type.Object({
    /** Max upstream calls for one answer. */
    attempts: Type.Integer({ minimum: 1, default: 3 }),
    /** Timeout for the start of an upstream's answer. */
    headersTimeout: Duration({ default: '60s' }),
    /** Timeout for the first content, from the start of the call; pings do not count. */
    firstTokenTimeout: Duration({ default: '60s' }),
    /** Max wait for the same slot, where that names a time (`retry-after`) and holds the session's cache, or is the only one. */
    waitIfWithin: Duration({ default: '3s' }),
    /** Idle timeout: max silence within an answer, after its first content; pings reset it. */
    idleTimeout: Duration({ default: '120s' }),
  }),
  setup({ attempts, headersTimeout, firstTokenTimeout, waitIfWithin, idleTimeout }, host) {
    const firstContentMs = durationMs(firstTokenTimeout);
    const waitIfWithinMs = durationMs(waitIfWithin);
    const timeouts = { headersTimeoutMs: durationMs(headersTimeout), idleTimeoutMs: durationMs(idleTimeout) };
    const countFailover = failoverCounter(host.metrics);
    return async function upstreamCall(ctx, next) {
      const { state } = ctx;
      const prepare = preparation(ctx, host, timeouts);
      // Set as each call begins, so that they are on an answer that some other stage makes of a failure.
      let shown: readonly [slot?: string | undefined, attempts?: number] = [];
      const setHeaders = (slot: string | undefined, attempts: number): void => {
        if (slot === undefined) ctx.remove('x-gw-slot');
        else if (slot !== shown[0]) ctx.set('x-gw-slot', slot);
        if (attempts !== shown[1]) ctx.set('x-gw-attempts', String(attempts));
        shown = [slot, attempts];
      };
      if (state.operation === 'count-tokens') {
        const lease = await state.picker.lease(state.request);
        setHeaders(lease.slot.id, 1);
        state.count = await countTokens(lease, state.trace, prepare(state.request, lease));
      } else {
        const call = wrapCall(
          ctx,
          modelCall(state, prepare, {
            attempts,
            firstContentMs,
            waitIfWithinMs,
            setHeaders,
            countFailover,
            clock: host.clock,
            models: host.models,
          }),
        );
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

/** False for a name as long as the client has made it: a header of that size breaks the whole answer. */
function isShort(model: string): boolean {
  return model !== '' && model.length <= 200;
}

/** Makes the calls of one request. */
function preparation(
  ctx: StageContext<'request' | 'delivery' | 'picker', never>,
  host: Host,
  timeouts: Pick<SlotCall, 'headersTimeoutMs' | 'idleTimeoutMs'>,
): Prepare {
  const { state } = ctx;
  const losses = lossReport(ctx.response);
  const { keepsBytes } = host.formats.get(state.format);
  const headers = forwardedHeaders(ctx.headers);
  return (request, lease) => ({
    request: outgoing(request, nameFor(request, lease, host.models), state.operation),
    headers,
    search: keepsBytes ? ctx.search : '',
    signal: callSignal(state),
    addedTools: state.additions.tools,
    isWhole: state.delivery === 'whole',
    isTranslated: !keepsBytes,
    profile: host.models.profile(request.model),
    unsupported: losses.unsupported,
    report: (found, options) => losses.addCall(found, request, options),
    ...timeouts,
  });
}

type CallState = Pick<GatewayState, 'delivery' | 'picker' | 'request' | 'signal' | 'onSettled' | 'trace'>;
type Prepare = (request: MessagesRequest, lease: SlotLease) => SlotCall;

interface Calling extends Pick<Host, 'clock' | 'models'> {
  readonly attempts: number;
  readonly firstContentMs: number;
  readonly waitIfWithinMs: number;
  readonly setHeaders: (slot: string, attempts: number) => void;
  readonly countFailover: CountFailover;
}

/** Name of the request's model at the leased slot: the slot's own, else the catalog's. */
function nameFor({ model }: MessagesRequest, { upstreamModel }: SlotLease, models: Models): string {
  return upstreamModel ?? models.find(model)?.upstreamModel ?? model;
}

/** Outgoing request: with the upstream's name of the model, and streamed unless it is a token count. */
function outgoing(request: MessagesRequest, model: string, operation: Operation): MessagesRequest {
  return operation === 'count-tokens' ? { ...request, model } : withFields(request, { stream: true, model });
}

/**
 * Model call that all interceptors wrap. Each one is leased a slot by its own request, and holds the permit
 * until its events have ended.
 */
function modelCall(state: CallState, prepare: Prepare, calling: Calling): ModelCall {
  const { attempts, firstContentMs, waitIfWithinMs, setHeaders, countFailover, clock, models } = calling;
  const { delivery, trace } = state;
  const meter = usageMeter(trace);
  return async (request, options) => {
    const { model } = request;
    const asked = trace.askedModel ?? state.request.model;
    const budgets = [options?.budget ?? []].flat();
    let lease = await leaseFor(request, state);
    let call = prepare(request, lease);
    for (let attempt = 1; ; attempt += 1) {
      setHeaders(lease.slot.id, trace.calls.length + 1);
      for (const budget of budgets) budget.left -= 1;
      const timer = trace.call(lease.slot.id, model === asked ? undefined : model);
      const see = watch(timer, meter(timer));
      try {
        const reply = await ask(lease, traced(call, timer), model, {
          attempts: attempt,
          delivery,
          see,
          timer,
          through: options?.through,
          firstContentMs,
          clock,
        });
        timer.end();
        return reply;
      } catch (thrown) {
        const error = withHeaders(toGatewayError(thrown), provenance(lease.slot.id, trace.calls.length));
        timer.fail(error);
        const next = callSignal(state).aborted
          ? undefined
          : await elsewhere(lease, error, {
              waitIfWithinMs,
              mayTryAgain: attempt < attempts && budgets.every(({ left }) => left > 0),
            });
        if (!next) {
          lease.release();
          throw error;
        }
        state.onSettled(() => next.release());
        countFailover(error, lease.slot, next.slot);
        lease = next;
        call = renamed(call, nameFor(request, lease, models));
      }
    }
  };
}

/** Call that hands on the trace of its request, if it is part of one. */
function traced(call: SlotCall, { headers }: CallTimer): SlotCall {
  return headers ? withFields(call, { headers: { ...call.headers, ...headers } }) : call;
}

/** Call by another slot's name of the model; the same one, with its request, where that is no other. */
function renamed(call: SlotCall, model: string): SlotCall {
  if (call.request.model === model) return call;
  return withFields(call, { request: withFields(call.request, { model }) });
}

/** Observer of a call's events: the first one stops its timer, and all of them are measured. */
function watch(timer: CallTimer, measure: (event: ModelEvent) => void): (event: ModelEvent) => void {
  return (event) => {
    timer.firstEvent();
    measure(event);
  };
}

async function leaseFor(request: MessagesRequest, { picker, onSettled }: CallState): Promise<SlotLease> {
  const lease = await picker.lease(request);
  onSettled(() => lease.release());
  return lease;
}

interface Asking
  extends Required<Pick<CommitOptions, 'delivery' | 'see' | 'through'>>, Pick<Calling, 'clock'> {
  /** Number of this attempt, from 1. */
  readonly attempts: number;
  readonly timer: CallTimer;
  readonly firstContentMs: number;
}

/** Makes one upstream call, up to the commit point. */
async function ask(
  lease: SlotLease,
  call: SlotCall,
  model: string,
  { attempts, timer, firstContentMs, delivery, see, through, clock }: Asking,
): Promise<ModelReply> {
  const { slot } = lease;
  let answered: ModelReply['headers'] | undefined;
  const isSilent = (): boolean => !answered && firstContentMs >= call.headersTimeoutMs;
  const content = new FirstContent(call.signal, slot.id, firstContentMs, { clock, isSilent });
  const onContent = (): void => {
    content.come();
    timer.firstToken();
  };
  const onEnd = (): void => {
    timer.lastEvent();
    content.end();
    lease.release();
  };
  try {
    const sent = withFields(call, { signal: content.signal, hasContent: content.hasCome });
    const { status, headers, events, dropped, leftOut } = await slot.generate(sent);
    answered = headers;
    const onCommit = (): void => lease.answered(headers, content.tookMs);
    const reply = await committed(events, {
      delivery,
      see,
      through,
      onContent,
      onCommit,
      onEnd,
    });
    if (dropped) call.report?.(dropped);
    const upstreamModel = call.request.model;
    const answer = { status, headers, model, upstreamModel, slot: slot.id, attempts, events: reply };
    return leftOut?.length ? { ...answer, leftOut } : answer;
  } catch (error) {
    throw withHeaders(toGatewayError(content.end(error)), answerHeaders(answered ?? {}));
  }
}

/** Reports the failure to the slot, and takes a permit in another one if there are attempts left. */
async function elsewhere(
  lease: SlotLease,
  error: GatewayError,
  { mayTryAgain, waitIfWithinMs }: { readonly mayTryAgain: boolean; readonly waitIfWithinMs: number },
): Promise<SlotLease | undefined> {
  if (!error.failure) return undefined;
  if (mayTryAgain) return lease.another(error, { waitIfWithinMs });
  lease.failed(error);
  return undefined;
}
