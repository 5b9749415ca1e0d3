import type { GatewayError } from '../../plugin/index.js';
import { sseData } from '../sse.js';

/** Final event of a broken Chat Completions or Completions stream: the error object, without `[DONE]`. */
export function chatError(error: GatewayError): string {
  return sseData(JSON.stringify(error));
}
