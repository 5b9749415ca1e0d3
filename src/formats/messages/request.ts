import type { Decoded, MessagesRequest } from '../../plugin/index.js';
import { invalidField, isRecord } from '../body.js';

/**
 * A Messages body as it is: the request is the very object that came in, and what it holds is for the upstream to judge.
 * Throws `invalid_request` where it is not an object or has no `model` or `messages`.
 */
export function decodeMessages(body: unknown): Decoded {
  if (!isMessagesRequest(body)) throw invalidField('body', 'must be an object');
  return { request: body, stream: body.stream === true, dropped: [], interceptors: [] };
}

/** Throws for a missing field, which is as much as the gateway itself needs. */
function isMessagesRequest(body: unknown): body is MessagesRequest {
  if (!isRecord(body)) return false;
  const { model, messages } = body;
  if (typeof model !== 'string' || model === '') throw invalidField('model', 'must be the name of a model');
  if (!Array.isArray(messages)) throw invalidField('messages', 'must be an array');
  return true;
}
