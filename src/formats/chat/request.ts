import type { Decoded, FormatContext, Message } from '../../plugin/index.js';
import type { CallerTool } from '../tools.js';

export interface ChatBody {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly stream?: boolean | null;
  readonly n?: number | null;
  readonly stream_options?: { readonly include_usage?: boolean } | null;
  readonly tools?: readonly unknown[];
  readonly functions?: readonly unknown[];
}

export function decodeChat(body: unknown, _context: FormatContext): Decoded {
  const { model, messages, stream } = body as ChatBody; // a placeholder
  return { request: { model, messages }, stream: stream === true, dropped: [], interceptors: [] };
}

export function toolNames(_body: ChatBody): ReadonlyMap<string, CallerTool> {
  return new Map();
}
