import type { Decoded, MessagesRequest } from '../../plugin/index.js';
import { bodyCheck } from '../body.js';
import { messagesBody } from './body.js';

const check = bodyCheck(messagesBody);

/**
 * Decodes a Messages body without a copy; the upstream validates its content. Throws `invalid_request` if it
 * is not an object or has no `model` or `messages`.
 */
export function decodeMessages(body: unknown): Decoded {
  const request = check(body) as MessagesRequest; // as far as the gateway itself needs
  return { request, stream: request.stream === true, dropped: [], interceptors: [] };
}
