import { cacheMarkers, type MessagesRequest } from '@gw2api/gateway/plugin';
import { promptBytes, promptBytesOf } from '../../shared/prompt-bytes.js';
import type { Capabilities } from '../capabilities.js';
import type { ChatBody } from './chat-body.js';

/** Parts of a request that become input tokens. */
const prompt = ['messages', 'tools'] as const;

/** Size of a body's prompt, without the cache markers in it. `totalBytes`: size of the whole body, if known. */
export function chatPromptBytes(
  body: ChatBody,
  { cacheControl }: Pick<Capabilities, 'cacheControl'>,
  totalBytes?: number,
): number {
  const bytes =
    totalBytes === undefined ? promptBytes(body, prompt) : promptBytesOf(body, totalBytes, prompt);
  return cacheControl ? bytes - markerBytes(body) : bytes;
}

function markerBytes({ messages, tools }: ChatBody): number {
  const parts = { messages, tools } as object as MessagesRequest; // only their markers are looked up
  const members = cacheMarkers(parts).map((marker) => `,"cache_control":${JSON.stringify(marker)}`);
  return Buffer.byteLength(members.join(''));
}
