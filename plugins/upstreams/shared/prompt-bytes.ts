/**
 * Size of the part of a request that becomes input tokens, without its settings, so that a token count and the
 * estimate of an answer's input are the same. `totalBytes`: size of the whole request.
 */
export function promptBytes(body: object, totalBytes: number, parts: readonly string[]): number {
  const settings = Object.fromEntries(Object.entries(body).filter(([name]) => !parts.includes(name)));
  return Math.max(1, totalBytes - Buffer.byteLength(JSON.stringify(settings)));
}
