/**
 * Seconds until the used-up limits of `x-ratelimit-*` headers are reset; undefined if none is used up. Resets
 * are durations (`6m0s`, `120ms`), seconds, or a time in milliseconds.
 */
export function usedUpSeconds(headers: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  const waits = limits
    .filter((limit) => headers[`x-ratelimit-remaining${limit}`] === '0')
    .map((limit) => secondsIn(headers[`x-ratelimit-reset${limit}`] ?? '', nowMs))
    .filter((seconds) => seconds !== undefined);
  return waits.length > 0 ? Math.max(1, Math.ceil(Math.max(...waits))) : undefined;
}

const limits = ['-requests', '-tokens', ''] as const;

function secondsIn(text: string, nowMs: number): number | undefined {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value))
    return value > earliestTimeMs ? (value - nowMs) / 1000 : value;
  const [whole, hours = 0, minutes = 0, seconds = 0, ms = 0] = duration.exec(text.slice(0, 40)) ?? [];
  if (!whole) return undefined;
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) + Number(ms) / 1000;
}

/** Numbers above it are times, not seconds. */
const earliestTimeMs = 1e12;

const duration = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/;
