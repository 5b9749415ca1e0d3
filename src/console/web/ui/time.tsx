import { longTime, relative, shortTime, utcTime } from '../format/times.js';
import { useNow } from '../state/now.js';

/** A time of the browser's zone; the tooltip says it in UTC. */
export function Time({ at, long = false }: { readonly at: string; readonly long?: boolean }) {
  const date = new Date(at);
  return (
    <time dateTime={at} title={utcTime(date)}>
      {long ? longTime(date) : shortTime(date)}
    </time>
  );
}

/** 5 min ago, in 3 h: kept up to date. */
export function RelativeTime({ at }: { readonly at: string }) {
  const now = useNow();
  const date = new Date(at);
  return (
    <time dateTime={at} title={`${longTime(date)} · ${utcTime(date)}`}>
      {relative(date, now)}
    </time>
  );
}
