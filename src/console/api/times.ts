/** ISO 8601 of unix milliseconds; null for null and undefined. */
export function isoTime(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined ? null : new Date(ms).toISOString();
}
