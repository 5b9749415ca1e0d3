/** Tokens of a text of this length, where nobody counts them; no request and no answer is free. */
export function estimate(length: number): number {
  return Math.max(1, Math.ceil(length / 4));
}
