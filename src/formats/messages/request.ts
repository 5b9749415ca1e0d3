import type { Decoded, MessagesRequest } from '../../plugin/index.js';
import { bodyCheck } from '../body.js';
import { messagesBody } from './body.js';

const check = bodyCheck(messagesBody);

/**
 * A Messages body as it is: the request is the very object that came in, and what it holds is for the upstream to judge.
 * Throws `invalid_request` where it is not an object or has no `model` or `messages`.
 */
export function decodeMessages(body: unknown): Decoded {
  const request = check(body) as MessagesRequest; // as far as the gateway itself needs
  return { request, stream: request.stream === true, dropped: [], interceptors: [] };
}
