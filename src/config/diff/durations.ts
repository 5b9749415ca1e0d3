/** A duration in milliseconds as in a config: `30s`, `500ms`; undefined for none. */
export function durationText(ms: number): string;
export function durationText(ms: number | undefined): string | undefined;
export function durationText(ms: number | undefined): string | undefined {
  if (ms === undefined) return undefined;
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}
