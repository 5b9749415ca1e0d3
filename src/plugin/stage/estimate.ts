/** Estimated token count of a request: a quarter of its JSON's UTF-8 bytes, at least 1. */
export function estimateTokens(request: object): number {
  return Math.max(1, Math.ceil(Buffer.byteLength(JSON.stringify(request)) / 4));
}
