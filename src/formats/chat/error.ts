import type { GatewayError } from '../../plugin/index.js';
import { sseData } from '../sse.js';

/** The event that ends a broken stream of Chat Completions or Completions: the error object, and no `[DONE]`. */
export function chatError(error: GatewayError): string {
  return sseData(JSON.stringify(error));
}
