/** Times of an answer in milliseconds, as the ledger has them. */
interface AnswerTimes {
  readonly firstEventMs?: number | undefined;
  readonly firstTokenMs?: number | undefined;
  readonly outputMs?: number | undefined;
}

/**
 * Time for each output token after the first one, in milliseconds; undefined for an answer that is not complete
 * or has fewer than two.
 */
export function perOutputTokenMs(
  { firstEventMs, firstTokenMs, outputMs }: AnswerTimes,
  outputTokens: number,
): number | undefined {
  if (firstEventMs === undefined || firstTokenMs === undefined || outputMs === undefined) return undefined;
  if (outputTokens < 2) return undefined;
  return Math.max(0, firstEventMs + outputMs - firstTokenMs) / (outputTokens - 1);
}
