import {
  answerHeaders,
  committed,
  definePlugin,
  Duration,
  durationMs,
  estimateTokens,
  forwardedHeaders,
  toGatewayError,
  withHeaders,
  usageMeter,
  Type,
  type CommitOptions,
  type Count,
  type GatewayError,
  type GatewayState,
  type MessagesRequest,
  type ModelCall,
  type ModelEvent,
  type ModelReply,
  type SlotCall,
  type SlotLease,
} from 'gw2api/plugin';

/** Asks the upstream, in another slot where one fails before the commit point (design §4, contract §6). */
export default definePlugin({
  name: 'upstream-call',
  requires: ['request', 'delivery', 'lease', 'interceptors'],
  provides: ['reply', 'count'],
  seals: ['request', 'lease', 'interceptors'],
  operations: ['generate', 'count-tokens'],
  options: Type.Object({
    /** The most upstream calls for one answer. */
    attempts: Type.Integer({ minimum: 1, default: 3 }),
    /** How long an upstream may take to begin its answer. */
    headersTimeout: Duration({ default: '60s' }),
    /** The longest silence within an answer. */
    idleTimeout: Duration({ default: '120s' }),
  }),
  setup({ attempts, headersTimeout, idleTimeout }, host) {
    const timeouts = {
      headersTimeoutMs: durationMs(headersTimeout),
      idleTimeoutMs: durationMs(idleTimeout),
    };
    return async function upstreamCall(ctx, next) {
      const { state } = ctx;
      const prepare = (request: MessagesRequest): SlotCall => ({
        request: { ...request, model: host.models.find(request.model)?.upstreamModel ?? request.model },
        headers: forwardedHeaders(ctx.headers),
        search: state.format === 'messages' ? ctx.search : '',
        signal: state.signal,
        ...timeouts,
      });
      // Said as each call begins, for the log of a caller who does not wait for its end.
      const onCall: OnCall = (lease, attempt) => ctx.set(provenance(lease.slot.id, attempt));
      if (state.operation === 'count-tokens') {
        onCall(state.lease, 1);
        state.count = await countTokens(state.lease, prepare(state.request));
      } else {
        // The first interceptor that was pushed is the outermost.
        const call = state.interceptors.reduceRight<ModelCall>(
          (inner, wrap) => wrap(inner),
          modelCall(state, prepare, { attempts, onCall, now: () => host.now() }),
        );
        state.reply = await call(state.request);
        ctx.set({
          ...answerHeaders(state.reply.headers),
          ...provenance(state.reply.slot, state.reply.attempts),
        });
      }
      await next();
    };
  },
});

type CallState = Pick<
  GatewayState,
  'delivery' | 'lease' | 'signal' | 'usage' | 'onSettled' | 'firstEventAtMs' | 'timeline'
>;
type Prepare = (request: MessagesRequest) => SlotCall;
type OnCall = (lease: SlotLease, attempt: number) => void;

interface Calling {
  readonly attempts: number;
  readonly onCall: OnCall;
  readonly now: () => number;
}

/** The call that all interceptors wrap. Each one holds a place of its own until its events have ended. */
function modelCall(state: CallState, prepare: Prepare, { attempts, onCall, now }: Calling): ModelCall {
  const takePlace = placeTaker(state);
  const meter = usageMeter(state.usage);
  return async (request) => {
    const call = prepare({ ...request, stream: true });
    let lease = await takePlace();
    for (let attempt = 1; ; attempt += 1) {
      onCall(lease, attempt);
      const clock = new CallClock(now, meter());
      try {
        const reply = await ask(lease, call, attempt, { delivery: state.delivery, see: clock.see });
        state.firstEventAtMs ??= clock.firstEventAtMs;
        state.timeline.calls.push({ slot: lease.slot.id, ms: clock.ms });
        return reply;
      } catch (thrown) {
        const error = withHeaders(toGatewayError(thrown), provenance(lease.slot.id, attempt));
        state.timeline.calls.push({ slot: lease.slot.id, ms: clock.ms, code: error.code });
        const next = state.signal.aborted ? undefined : await elsewhere(lease, error, attempt < attempts);
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

/** Notes when the first event of a call is seen, and shows all of them to `show`. */
class CallClock {
  readonly #now: () => number;
  readonly #show: (event: ModelEvent) => void;
  readonly #beganMs = performance.now();
  #firstEventMs: number | undefined;
  /** Unix milliseconds. */
  firstEventAtMs: number | undefined;

  constructor(now: () => number, show: (event: ModelEvent) => void) {
    this.#now = now;
    this.#show = show;
  }

  /** From the beginning of the call to its first event; to now where there is none. */
  get ms(): number {
    const ms = (this.#firstEventMs ?? performance.now()) - this.#beganMs;
    return Math.round(ms * 100) / 100;
  }

  readonly see = (event: ModelEvent): void => {
    this.#firstEventMs ??= performance.now();
    this.firstEventAtMs ??= this.#now();
    this.#show(event);
  };
}

/** The first call has the place that slot-pick took; each further one takes its own. */
function placeTaker({ lease, onSettled }: CallState): () => Promise<SlotLease> {
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

async function ask(
  lease: SlotLease,
  call: SlotCall,
  attempts: number,
  options: Pick<CommitOptions, 'delivery' | 'see'>,
): Promise<ModelReply> {
  const { status, headers, events } = await lease.slot.generate(call);
  try {
    const reply = await committed(events, { ...options, onEnd: () => lease.release() });
    lease.answered(headers);
    return { status, headers, slot: lease.slot.id, attempts, events: reply };
  } catch (error) {
    throw withHeaders(toGatewayError(error), answerHeaders(headers));
  }
}

/** Tells the slot how the call has failed, and takes a place in another one where there are attempts left. */
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

/** An OAuth account has no count of its own: its windows are what there is to tell (contract §2.2). */
async function countTokens(lease: SlotLease, { request, ...call }: SlotCall): Promise<Count> {
  const { slot } = lease;
  const { stream: _, ...counted } = request;
  try {
    if (slot.accountKind === 'oauth')
      return { inputTokens: estimateTokens(counted), estimated: true, slot: slot.id, windows: slot.windows };
    const count = await slot.countTokens({ ...call, request: counted });
    return { ...count, slot: slot.id, windows: undefined };
  } catch (error) {
    throw withHeaders(toGatewayError(error), provenance(slot.id, 1));
  } finally {
    lease.release();
  }
}

function provenance(slot: string, attempts: number): Readonly<Record<string, string>> {
  return { 'x-gw-slot': slot, 'x-gw-attempts': String(attempts) };
}
