import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

/** Name of the method by which a body writes itself to the response, if it is still the body after all stages. */
export const sendTo = Symbol.for('gw2api.sendTo');

/** Name of the method that returns the stream of a body, the same one each time. */
export const asStream = Symbol.for('gw2api.asStream');

export interface DirectBody {
  [sendTo](response: ServerResponse): void;
}

/** Body that becomes a stream when a stage reads it. */
export interface LazyBody extends DirectBody {
  [asStream](): Readable;
}
