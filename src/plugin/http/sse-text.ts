/** Piece of an event stream: text, or its UTF-8 bytes. */
export type SsePiece = string | Uint8Array;

/** One server-sent event with a name. */
export function sseEvent(type: string, data: string): string {
  return `event: ${type}\n${sseData(data)}`;
}

/** One server-sent event without a name; line breaks of its data are kept. */
export function sseData(data: string): string {
  return data.includes('\n') ? `data: ${data.replaceAll('\n', '\ndata: ')}\n\n` : `data: ${data}\n\n`;
}
