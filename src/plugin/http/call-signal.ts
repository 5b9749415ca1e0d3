/**
 * What the parts of a call listen to: an AbortSignal, or less than one. `removeEventListener` takes what was added;
 * listeners are called once, in the order in which they were added.
 */
export interface CallSignal {
  readonly aborted: boolean;
  /** What it was aborted with. */
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}
