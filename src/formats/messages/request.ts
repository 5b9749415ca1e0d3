import type { Decoded, FormatContext, MessagesRequest } from '../../plugin/index.js';

export function decodeMessages(body: unknown, _context: FormatContext): Decoded {
  const request = body as MessagesRequest; // a placeholder
  return { request, stream: request.stream === true, dropped: [], interceptors: [] };
}
