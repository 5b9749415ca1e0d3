import type { GatewayError } from '../../plugin/index.js';
import { sseEvent } from '../sse.js';

/** The `error` event that ends a broken Messages stream. */
export function messagesError({ type, message, details }: GatewayError): string {
  const error = details === undefined ? { type, message } : { type, message, details };
  return sseEvent('error', JSON.stringify({ type: 'error', error }));
}
