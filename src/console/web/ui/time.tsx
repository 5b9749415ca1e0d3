import { longTime, relative, shortTime, utcTime } from '../format/times.js';
import { useNow } from '../state/visible.js';

/** A time in the browser's time zone; the tooltip has it in UTC. */
export function Time({ at, long = false }: { readonly at: string; readonly long?: boolean }) {
  const date = new Date(at);
  return (
    <time dateTime={at} title={utcTime(date)}>
      {long ? longTime(date) : shortTime(date)}
    </time>
  );
}

/** Relative time such as 5 min ago or in 3 h, updated while visible. */
export function RelativeTime({ at }: { readonly at: string }) {
  const now = useNow();
  const date = new Date(at);
  return (
    <time dateTime={at} title={`${longTime(date)} · ${utcTime(date)}`}>
      {relative(date, now)}
    </time>
  );
}
