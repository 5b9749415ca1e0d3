import {
  answerHeaders,
  committed,
  definePlugin,
  Duration,
  durationMs,
  estimateTokens,
  FirstContent,
  forwardedHeaders,
  toGatewayError,
  withFields,
  withHeaders,
  usageMeter,
  Type,
  type CallTimer,
  type CommitOptions,
  type Count,
  type GatewayError,
  type GatewayState,
  type MessagesRequest,
  type ModelCall,
  type ModelEvent,
  type ModelReply,
  type Models,
  type Operation,
  type Slot,
  type SlotCall,
  type SlotLease,
  type TokenCount,
} from 'gw2api/plugin';
import { callSignal } from 'gw2api/plugin/raw';

/** Calls the upstream, with failover to another slot before the commit point (design §4, contract §6). */
export default definePlugin({
  name: 'upstream-call',
  requires: ['request', 'delivery', 'lease'],
  provides: ['reply', 'count'],
  seals: ['request', 'lease', 'interceptors'],
  operations: ['generate', 'count-tokens'],
  options: Type.Object({
    /** Max upstream calls for one answer. */
    attempts: Type.Integer({ minimum: 1, default: 3 }),
    /** Timeout for the start of an upstream's answer. */
    headersTimeout: Duration({ default: '60s' }),
    /** Timeout for the first content, from the start of the call; pings do not count. */
    firstTokenTimeout: Duration({ default: '60s' }),
    /** Idle timeout: max silence within an answer, after its first content; pings reset it. */
    idleTimeout: Duration({ default: '120s' }),
  }),
  setup({ attempts, headersTimeout, firstTokenTimeout, idleTimeout }, host) {
    const firstContentMs = durationMs(firstTokenTimeout);
    const timeouts = {
      headersTimeoutMs: durationMs(headersTimeout),
      idleTimeoutMs: durationMs(idleTimeout),
    };
    return async function upstreamCall(ctx, next) {
      const { state } = ctx;
      const prepare = (request: MessagesRequest): SlotCall => ({
        request: outgoing(request, host.models, state.operation),
        headers: forwardedHeaders(ctx.headers),
        search: host.formats.get(state.format).keepsBytes ? ctx.search : '',
        signal: callSignal(state),
        ...timeouts,
      });
      // Set as each call begins, so that they are on an answer that some other stage makes of a failure.
      let shown: readonly [slot?: string, attempts?: number] = [];
      const setHeaders = (slot: string, attempts: number): void => {
        if (slot !== shown[0]) ctx.set('x-gw-slot', slot);
        if (attempts !== shown[1]) ctx.set('x-gw-attempts', String(attempts));
        shown = [slot, attempts];
      };
      if (state.operation === 'count-tokens') {
        setHeaders(state.lease.slot.id, 1);
        state.count = await countTokens(state, prepare(state.request));
      } else {
        // The first interceptor that was pushed is the outermost.
        const call = state.interceptors.reduceRight<ModelCall>(
          (inner, wrap) => wrap(inner),
          modelCall(state, prepare, { attempts, firstContentMs, setHeaders }),
        );
        const reply = await call(state.request);
        state.reply = reply;
        ctx.set(answerHeaders(reply.headers));
        setHeaders(reply.slot, Math.max(reply.attempts, state.trace.calls.length)); // those that were made again, too
      }
      await next();
    };
  },
});

type CallState = Pick<GatewayState, 'delivery' | 'lease' | 'signal' | 'onSettled' | 'trace'>;
type Prepare = (request: MessagesRequest) => SlotCall;

interface Calling {
  readonly attempts: number;
  readonly firstContentMs: number;
  readonly setHeaders: (slot: string, attempts: number) => void;
}

/** Outgoing request: with the upstream's name of the model, and streamed unless it is a token count. */
function outgoing(request: MessagesRequest, models: Models, operation: Operation): MessagesRequest {
  const model = models.find(request.model)?.upstreamModel ?? request.model;
  return operation === 'count-tokens' ? { ...request, model } : withFields(request, { stream: true, model });
}

/** Model call that all interceptors wrap. Each call holds a permit of its own until its events have ended. */
function modelCall(state: CallState, prepare: Prepare, calling: Calling): ModelCall {
  const { attempts, firstContentMs, setHeaders } = calling;
  const { delivery } = state;
  const takeLease = leaseTaker(state);
  const meter = usageMeter(state.trace);
  return async (request) => {
    const call = prepare(request);
    let lease = await takeLease();
    for (let attempt = 1; ; attempt += 1) {
      setHeaders(lease.slot.id, attempt);
      const timer = state.trace.call(lease.slot.id);
      const see = watch(timer, meter());
      try {
        const reply = await ask(lease, call, attempt, { delivery, see, firstContentMs });
        timer.end();
        return reply;
      } catch (thrown) {
        const error = withHeaders(toGatewayError(thrown), provenance(lease.slot.id, attempt));
        timer.fail(error);
        const next = callSignal(state).aborted
          ? undefined
          : await elsewhere(lease, error, attempt < attempts);
        if (!next) {
          lease.release();
          throw error;
        }
        state.onSettled(() => next.release());
        lease = next;
      }
    }
  };
}

/** Observer of a call's events: the first one stops its timer, and all of them are measured. */
function watch(timer: CallTimer, measure: (event: ModelEvent) => void): (event: ModelEvent) => void {
  return (event) => {
    timer.firstEvent();
    measure(event);
  };
}

/** Source of permits: the first call uses the one that slot-pick took; each further call takes its own. */
function leaseTaker({ lease, onSettled }: CallState): () => Promise<SlotLease> {
  let isTaken = false;
  return async () => {
    if (!isTaken) {
      isTaken = true;
      return lease;
    }
    const own = await lease.again();
    onSettled(() => own.release());
    return own;
  };
}

interface Asking extends Required<Pick<CommitOptions, 'delivery' | 'see'>> {
  readonly firstContentMs: number;
}

/** Makes one upstream call, up to the commit point. */
async function ask(
  lease: SlotLease,
  call: SlotCall,
  attempts: number,
  { firstContentMs, delivery, see }: Asking,
): Promise<ModelReply> {
  const { slot } = lease;
  const content = new FirstContent(call.signal, slot.id, firstContentMs);
  const onEnd = (): void => {
    content.end();
    lease.release();
  };
  let answered: Readonly<Record<string, string>> = {};
  try {
    const sent = withFields(call, { signal: content.signal, hasContent: content.hasCome });
    const { status, headers, events } = await slot.generate(sent);
    answered = headers;
    const onCommit = (): void => lease.answered(headers);
    const reply = await committed(events, { delivery, see, onContent: content.come, onCommit, onEnd });
    return { status, headers, slot: slot.id, attempts, events: reply };
  } catch (error) {
    throw withHeaders(toGatewayError(content.end(error)), answerHeaders(answered));
  }
}

/** Reports the failure to the slot, and takes a permit in another one if there are attempts left. */
async function elsewhere(
  lease: SlotLease,
  error: GatewayError,
  mayTryAgain: boolean,
): Promise<SlotLease | undefined> {
  if (!error.failure) return undefined;
  if (mayTryAgain) return lease.another(error);
  lease.failed(error);
  return undefined;
}

/** Token count. An account that reports usage windows does not count: it gets an estimate and its usage windows (contract §2.2). */
async function countTokens(
  { lease, trace }: Pick<GatewayState, 'lease' | 'trace'>,
  { request, ...call }: SlotCall,
): Promise<Count> {
  const { slot } = lease;
  const { stream: _, ...counted } = request;
  try {
    if (slot.reportsWindows)
      return { inputTokens: estimateTokens(counted), estimated: true, slot: slot.id, windows: slot.windows };
    const count = await timedCount(slot, trace, { ...call, request: counted });
    return { ...count, slot: slot.id, windows: undefined };
  } catch (error) {
    throw withHeaders(toGatewayError(error), provenance(slot.id, 1));
  } finally {
    lease.release();
  }
}

async function timedCount(slot: Slot, trace: GatewayState['trace'], call: SlotCall): Promise<TokenCount> {
  const timer = trace.call(slot.id);
  try {
    const count = await slot.countTokens(call);
    timer.end();
    return count;
  } catch (error) {
    timer.fail(toGatewayError(error));
    throw error;
  }
}

function provenance(slot: string, attempts: number): Readonly<Record<string, string>> {
  return { 'x-gw-slot': slot, 'x-gw-attempts': String(attempts) };
}
