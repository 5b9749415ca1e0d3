import type { ModelReply } from '../contract/state.js';

/** Key of the reply in an error. */
const reply = Symbol.for('gw2api.skippedReply');

interface MaybeSkippable {
  [reply]?: ModelReply;
}

/**
 * The error of an interceptor that has called, with the reply that a request continues with if the stage's entry says
 * `onError: skip`. Otherwise the reply is cancelled.
 */
export function skippable<Fault extends Error>(error: Fault, kept: ModelReply): Fault {
  return Object.defineProperty(error, reply, { value: kept, configurable: true });
}

/** Reply to continue with without the stage that has thrown an error; undefined: none. */
export function skippedReply(error: unknown): ModelReply | undefined {
  return error instanceof Error ? (error as MaybeSkippable)[reply] : undefined; // any error may have it
}
