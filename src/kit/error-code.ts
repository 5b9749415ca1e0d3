/** True for a text that can be an error code: an identifier of at most 64 characters. Upstreams write any text there. */
export function isErrorCode(text: string): boolean {
  return /^[\w.:#/-]{1,64}$/.test(text);
}
