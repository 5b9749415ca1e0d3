import {
  toGatewayError,
  usageMeter,
  withFields,
  withHeaders,
  withoutRefusal,
  type CallTimer,
  type GatewayError,
  type GatewayState,
  type Host,
  type MessagesRequest,
  type ModelCall,
  type ModelEvent,
  type ModelReply,
  type SlotCall,
  type SlotLease,
} from '@gw2api/gateway/plugin';
import { callSignal } from '@gw2api/gateway/plugin/raw';
import { ask } from './ask-upstream.js';
import { provenance, type CallersError } from './count-tokens.js';
import type { CountFailover } from './failovers.js';
import type { RefusedParts, TakenBack } from './taken-back/taken-back.js';

type CallState = Pick<GatewayState, 'delivery' | 'picker' | 'request' | 'signal' | 'onSettled' | 'trace'>;

export interface Calling extends Pick<Host, 'clock'> {
  /** Max calls for one answer, not counting retries without a refused part. */
  readonly attempts: number;
  readonly firstContentMs: number;
  readonly waitIfWithinMs: number;
  readonly countFailover: CountFailover;
  readonly refusedParts: RefusedParts;
}

/** Hooks of one request into its calls. */
export interface CallHooks {
  /** Call of a request on a new lease. */
  readonly prepare: (request: MessagesRequest, lease: SlotLease) => SlotCall;
  readonly callersError: CallersError;
  /** Called as each call begins, with its number. */
  readonly onCall: (slot: string, attempts: number) => void;
}

/**
 * Model call that all interceptors wrap. Each one is leased a slot by its own request, and holds the permit
 * until its events have ended.
 */
export function modelCall(state: CallState, calling: Calling, hooks: CallHooks): ModelCall {
  const meter = usageMeter(state.trace);
  return (request, { budget, through } = {}) =>
    new Answer(state, calling, { request, budgets: [budget ?? []].flat(), through, meter, hooks }).get();
}

interface Asked {
  readonly request: MessagesRequest;
  /** Upstream calls left to the interceptors. */
  readonly budgets: readonly { left: number }[];
  readonly through: Parameters<typeof ask>[3]['through'];
  readonly meter: ReturnType<typeof usageMeter>;
  readonly hooks: CallHooks;
}

interface Attempt {
  readonly lease: SlotLease;
  readonly call: SlotCall;
}

/** One answer, and the calls that are made for it: in one slot after another, and without refused parts. */
class Answer {
  readonly #state: CallState;
  readonly #calling: Calling;
  readonly #asked: Asked;
  readonly #takenBack: TakenBack;
  /** Calls so far, and those caused by a failover. */
  #made = 0;
  #attempts = 1;
  #hasContent = false;

  constructor(state: CallState, calling: Calling, asked: Asked) {
    this.#state = state;
    this.#calling = calling;
    this.#asked = asked;
    this.#takenBack = calling.refusedParts.forAnswer();
  }

  /** Reply at its commit point. Throws the error of the last call. */
  async get(): Promise<ModelReply> {
    const lease = await this.#state.picker.lease(this.#asked.request);
    let attempt = this.#begin(lease);
    for (;;) {
      const { reply, error } = await this.#ask(attempt);
      if (reply) return reply;
      const next = callSignal(this.#state).aborted ? undefined : await this.#next(attempt, error);
      if (!next) {
        attempt.lease.release();
        throw withoutRefusal(error);
      }
      attempt = next;
    }
  }

  #begin(lease: SlotLease): Attempt {
    this.#state.onSettled(() => lease.release());
    const { request, hooks } = this.#asked;
    const call = hooks.prepare(request, lease);
    return { lease, call: this.#takenBack.begin(lease.slot, call) };
  }

  async #ask({ lease, call }: Attempt): Promise<Asking> {
    const { trace, request: first, delivery } = this.#state;
    const { request, budgets, through, meter, hooks } = this.#asked;
    const { firstContentMs, clock } = this.#calling;
    const { id } = lease.slot;
    hooks.onCall(id, trace.calls.length + 1);
    for (const budget of budgets) budget.left -= 1;
    this.#made += 1;
    this.#hasContent = false;
    const { model } = request;
    const asked = model === (trace.askedModel ?? first.model) ? undefined : model;
    const timer = trace.call(id, asked, call.request);
    try {
      const reply = await ask(lease, traced(call, timer), model, {
        attempts: this.#made,
        delivery,
        see: watch(timer, meter(timer)),
        timer,
        through,
        onContent: () => void (this.#hasContent = true),
        firstContentMs,
        clock,
      });
      timer.end();
      this.#takenBack.answered(lease, call);
      return { reply };
    } catch (thrown) {
      const own = hooks.callersError(toGatewayError(thrown), request);
      const error = withHeaders(own, provenance(id, trace.calls.length));
      timer.fail(error);
      return { error };
    }
  }

  /** Call without the refused parts, else one in another slot; undefined if neither can help. */
  async #next({ lease, call }: Attempt, error: GatewayError): Promise<Attempt | undefined> {
    const { attempts, waitIfWithinMs, countFailover } = this.#calling;
    const hasBudget = this.#asked.budgets.every(({ left }) => left > 0);
    const again = hasBudget && !this.#hasContent && this.#takenBack.again(lease.slot, call, error);
    if (again) return { lease, call: again };
    const mayTryAgain = hasBudget && this.#attempts < attempts;
    const next = await leaseElsewhere(lease, error, { mayTryAgain, waitIfWithinMs });
    if (!next) return undefined;
    this.#attempts += 1;
    countFailover(error, lease.slot, next.slot);
    return this.#begin(next);
  }
}

type Asking =
  | { readonly reply: ModelReply; readonly error?: undefined }
  | { readonly error: GatewayError; readonly reply?: undefined };

/** Call with the trace of its request, if it is part of one. */
function traced(call: SlotCall, { headers }: CallTimer): SlotCall {
  return headers ? withFields(call, { headers: { ...call.headers, ...headers } }) : call;
}

/** Observer of a call's events: the first one stops its timer, and all of them are measured. */
function watch(timer: CallTimer, measure: (event: ModelEvent) => void): (event: ModelEvent) => void {
  return (event) => {
    timer.firstEvent();
    timer.received(event);
    measure(event);
  };
}

/** Reports the failure to the slot, and takes a permit in another one if there are attempts left. */
async function leaseElsewhere(
  lease: SlotLease,
  error: GatewayError,
  { mayTryAgain, waitIfWithinMs }: { readonly mayTryAgain: boolean; readonly waitIfWithinMs: number },
): Promise<SlotLease | undefined> {
  if (!error.failure) return undefined;
  if (mayTryAgain) return lease.another(error, { waitIfWithinMs });
  lease.failed(error);
  return undefined;
}
