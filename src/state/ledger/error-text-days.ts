/** Days that error texts are kept: a week, and no longer than the rows of the ledger. */
export function errorTextDays(keepDays: number): number {
  return Math.min(7, keepDays);
}
