import type { IncomingHttpHeaders } from 'node:http';
import type { MessagesRequest } from './messages.js';
import type { PickTerms } from './slot/slots.js';
import type { GatewayState, ModelCall } from './state.js';

/** Options of `host.call`: on behalf of a request (`ctx`), or of a key (`billTo`). */
export type HostCallOptions = HostCallTerms &
  (
    | { readonly ctx: CallingContext; readonly billTo?: undefined }
    | {
        /** Id of the key whose limits and budget count the call, or `master`. */
        readonly billTo: string;
        readonly ctx?: undefined;
      }
  );

interface HostCallTerms {
  /** Purpose, as the ledger and the metrics name it: 1 to 40 letters, digits and `_`, `.`, `-`. */
  readonly label: string;
  /** Ids of the slots, or globs over them, that the call may use; default: as slot-pick of the pipeline says. */
  readonly slots?: readonly string[];
  /** Headers of a caller, of which `anthropic-*` goes upstream; default: none. */
  readonly headers?: IncomingHttpHeaders;
  /** Ends the call. */
  readonly signal?: AbortSignal;
}

/** Context of a request whose stage makes a call. */
export interface CallingContext {
  readonly state: Pick<GatewayState, 'caller' | 'format' | 'operation' | 'requestId' | 'trace'>;
  readonly headers: IncomingHttpHeaders;
  readonly path: string;
}

/** State of a call by `host.call`, as that of a request; it has its picker once it is admitted. */
export type StageCallState = Pick<
  GatewayState,
  | 'requestId'
  | 'operation'
  | 'format'
  | 'signal'
  | 'log'
  | 'onSettled'
  | 'trace'
  | 'additions'
  | 'caller'
  | 'request'
  | 'delivery'
  | 'picker'
> & {
  /** Set by an admission: true if a budget counts the cost. */
  budgeted: boolean;
};

/** Call by `host.call`, as the stages that support it see it. */
export interface StageCall {
  readonly state: StageCallState;
  /** Headers of a caller, of which some go upstream. */
  readonly headers: IncomingHttpHeaders;
  /** True for a call on behalf of a request, which has the caller's permits already. */
  readonly isOfRequest: boolean;
}

/**
 * Parts of `host.call` that a stage brings, for the calls of the pipelines that list it and for which its `when` holds;
 * of several stages the first one that has a part picks or calls, and all of them admit.
 */
export interface CallSupport {
  /** Counts a call in the limits of its caller. Throws if one of them is reached. */
  admit?(this: void, call: StageCall): void | Promise<void>;
  /** Terms by which slots are picked. */
  pick?(this: void, call: StageCall): Pick<PickTerms, 'policy' | 'queueTimeoutMs' | 'slots'>;
  /** Makes the call of the model, in the slots of the picker. */
  model?(this: void, call: StageCall): ModelCall;
}

/** `host.call`. */
export type HostCall = (request: MessagesRequest, options: HostCallOptions) => ReturnType<ModelCall>;
