/**
 * Abort signal of a call: an AbortSignal or a subset of one. Listeners are called once, in the order added,
 * and can be removed.
 */
export interface CallSignal {
  readonly aborted: boolean;
  /** Reason of the abort. */
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}
