import { AsyncLocalStorage } from 'node:async_hooks';
import type { MessagesRequest } from '../../plugin/index.js';

const entering = new AsyncLocalStorage<MessagesRequest | undefined>();

/** Runs `send`, whose request becomes the recorded one at the entry stage; undefined: it stays as it is sent. */
export function withEntering<Result>(request: MessagesRequest | undefined, send: () => Result): Result {
  return entering.run(request, send);
}

/** Recorded request instead of the one that is being sent. */
export function enteringRequest(): MessagesRequest | undefined {
  return entering.getStore();
}
