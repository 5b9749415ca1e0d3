const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const hour = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short', hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const dayOfYear = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });

/** Time in the browser's time zone: 19 Nov 14:03:22, or 3 May 2025, 14:03:22 for another year. */
export function shortTime(at: Date, now: Date = new Date()): string {
  if (at.getFullYear() === now.getFullYear()) return `${day.format(at)} ${clock.format(at)}`;
  return longTime(at);
}

/** Full time: 19 Nov 2026, 14:03:22 */
export function longTime(at: Date): string {
  return `${dayOfYear.format(at)}, ${clock.format(at)}`;
}

/** Time of day: 16:40, or Tue 16:40 on another day than today. */
export function clockTime(at: Date, now: Date = new Date()): string {
  return at.toDateString() === now.toDateString() ? hour.format(at) : weekday.format(at).replace(',', '');
}

/** UTC time for tooltips: 2026-11-19 13:03:22 UTC */
export function utcTime(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** Label of a bucket: a day if buckets are days, else a time of day, with its day in a span of several. */
export function bucketTime(at: Date, stepSeconds: number, spanSeconds: number): string {
  if (stepSeconds >= 86_400) return day.format(at);
  return spanSeconds > 90_000 ? `${day.format(at)} ${hour.format(at)}` : hour.format(at);
}

/** Time to the minute: 22 Nov 14:00, or 22 Nov 2025, 14:00 for another year. */
export function rangeTime(at: Date, now: Date = new Date()): string {
  if (at.getFullYear() === now.getFullYear()) return `${day.format(at)} ${hour.format(at)}`;
  return `${dayOfYear.format(at)}, ${hour.format(at)}`;
}

/** The browser's time zone by its name, with its present offset: Europe/Berlin (UTC+1). */
export function zoneInWords(now: Date = new Date()): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  const minutes = -now.getTimezoneOffset();
  if (timeZone === 'UTC') return 'UTC';
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const offset = `${minutes < 0 ? '−' : '+'}${hours}${rest ? `:${String(rest).padStart(2, '0')}` : ''}`;
  return `${timeZone} (UTC${offset})`;
}

/** Relative time: just now, 5 min ago, in 3 h, 2 d ago. */
export function relative(at: Date, nowMs: number): string {
  const ms = at.getTime() - nowMs;
  const size = Math.abs(ms);
  if (size < 45_000) return ms > 0 ? 'in a moment' : 'just now';
  const words = durationText(size);
  return ms > 0 ? `in ${words}` : `${words} ago`;
}

function durationText(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} d`;
}

/** Value for an `<input type="datetime-local">`, from ISO 8601. */
export function toInputTime(iso: string | null): string {
  if (iso === null) return '';
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** ISO 8601 from the value of an `<input type="datetime-local">`; null if it is empty. */
export function fromInputTime(local: string): string | null {
  return local ? new Date(local).toISOString() : null;
}

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
