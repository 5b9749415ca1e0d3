import type { MessagesRequest } from './contract/messages.js';

/**
 * Fields of a caller that have no name in Messages, under their names in Chat Completions: `seed`, `logit_bias`.
 * Each upstream kind writes those that it has a place for, and reports the others.
 */
export type Extras = Readonly<Record<string, unknown>>;

/** Property of a request: copies have it, a request built anew has none, JSON does not show it. */
const extras = Symbol.for('gw2api.extras');

interface MaybeExtras {
  readonly [extras]?: Extras;
}

const none: Extras = Object.freeze({});

/** Extras of a request; none if it has no such property. */
export function extrasOf(request: object): Extras {
  return (request as MaybeExtras)[extras] ?? none; // any object may have the symbol
}

/** Copy of a request with these extras in place of its own. */
export function withExtras(request: MessagesRequest, given: Extras): MessagesRequest {
  const copy: MessagesRequest & { [extras]?: Extras } = { ...request };
  if (Object.keys(given).length > 0) copy[extras] = given;
  else delete copy[extras];
  return copy;
}
