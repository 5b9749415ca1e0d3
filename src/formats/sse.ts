/** One server-sent event with a name. */
export function sseEvent(type: string, data: string): string {
  return `event: ${type}\n${sseData(data)}`;
}

/** One server-sent event without a name; data of several lines stays of several lines. */
export function sseData(data: string): string {
  return data.includes('\n') ? `data: ${data.replaceAll('\n', '\ndata: ')}\n\n` : `data: ${data}\n\n`;
}

/** Ends a good stream in the formats other than Messages. */
export const sseDone = sseData('[DONE]');

/** Says nothing, so that proxies on the way do not take a long thought for a dead connection. */
export const sseComment = ': keep-alive\n\n';
