/** True for a text that says of itself that a tool has failed. */
export function saysError(text: string | undefined): boolean {
  return text !== undefined && /^\W*error/i.test(text);
}

/** Text of a failed call, for formats without a field for it. */
export function asError(text: string): string {
  return saysError(text) ? text : `Error: ${text}`;
}
