/**
 * Abort signal of a call: an AbortSignal or a subset of one. Listeners are called once, in the order added,
 * and can be removed.
 */
export interface CallSignal {
  /** Same signal as a native AbortSignal, if this is not one; created when it is first read. */
  readonly abortSignal?: AbortSignal;
  readonly aborted: boolean;
  /** Reason of the abort. */
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Native AbortSignal of a call, for `fetch` and other functions that take no other; created on demand. */
export function abortSignal(signal: CallSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  return signal.abortSignal ?? mirror(signal);
}

function mirror(signal: CallSignal): AbortSignal {
  if (signal.aborted) return AbortSignal.abort(signal.reason);
  const controller = new AbortController();
  signal.addEventListener('abort', () => controller.abort(signal.reason));
  return controller.signal;
}

/** Key of a request's own signal in its state, beside `signal`. */
export const ownSignal = Symbol.for('gw2api.callSignal');

/** The signal of a request's state, for calls that need no native AbortSignal, which is then not created. */
export function callSignal(state: { readonly signal: AbortSignal }): CallSignal {
  const { [ownSignal]: own } = state as { readonly [ownSignal]?: CallSignal }; // absent in the states of tests
  return own ?? state.signal;
}
