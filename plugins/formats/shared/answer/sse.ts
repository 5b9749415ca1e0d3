import type { GatewayError } from '@gw2api/gateway/plugin';
import { sseData } from '@gw2api/gateway/plugin/format';
import { toBinaryString, type BinaryString } from '@gw2api/gateway/plugin/raw';
import { openaiError } from './error.js';

/** Success marker at the end of a stream, in the formats other than Messages. */
export const sseDone = sseData('[DONE]');

/** Heartbeat comment, so that proxies do not close the connection during long thinking. */
export const sseComment = ': keep-alive\n\n';

/** Final event of a broken Chat Completions or Completions stream: the error object, without `[DONE]`. */
export function chatError(error: GatewayError): string {
  return sseData(JSON.stringify(openaiError(error)));
}

/** A text as part of JSON, without the quotes. */
export function jsonBytes(text: string): BinaryString {
  return toBinaryString(JSON.stringify(text).slice(1, -1));
}
