import { clockTime } from '../../../console/web/format/times.js';
import { useNow } from '../../../console/web/state/visible.js';
import type { Slot } from './api.js';

export type Forecast = NonNullable<Slot['forecast']['5h']>;

/** Forecast of a usage window in a line; the tooltip explains it. */
export function ForecastLine({ forecast }: { readonly forecast: Forecast }) {
  const { text, tone } = forecastWords(forecast, useNow());
  return (
    <p class={`forecast forecast-${tone}`} title={explanationOf(forecast)}>
      {text}
    </p>
  );
}

interface ForecastWords {
  readonly text: string;
  readonly tone: 'plain' | 'warn' | 'bad';
}

export function forecastWords(forecast: Forecast, nowMs: number): ForecastWords {
  const { verdict, full_at: full, earliest, latest, percent_at_reset: atReset } = forecast;
  const time = (at: string) => clockTime(new Date(at), new Date(nowMs));
  if (verdict === 'full') return { text: 'Full until it resets.', tone: 'bad' };
  if (verdict === 'unknown')
    return { text: 'No forecast yet: too few samples since the reset.', tone: 'plain' };
  if (verdict === 'fills' && full !== null) {
    const band = bandWords(time(full), earliest && time(earliest), latest && time(latest));
    return { text: `Full at about ${time(full)}${band}.`, tone: 'warn' };
  }
  const expected = atReset === null ? '' : `: about ${Math.round(atReset)} % by then`;
  const pace = earliest ? `; at its fastest pace full at ${time(earliest)}` : '';
  return { text: `Not full before it resets${expected}${pace}.`, tone: 'plain' };
}

/** Band in brackets; nothing if it is no wider than the time itself. */
function bandWords(full: string, earliest: string | null, latest: string | null): string {
  if (earliest === null || (earliest === full && latest === full)) return '';
  return latest === null ? ` (${earliest} or later)` : ` (${earliest} to ${latest})`;
}

function explanationOf({ percent_per_hour: pace }: Forecast): string {
  const found = pace === null ? '' : ` The median pace is ${pace.toFixed(pace < 10 ? 1 : 0)} % an hour.`;
  return `From the use since the last reset: at its median pace, and at that of its fastest and slowest tenth.${found}`;
}
