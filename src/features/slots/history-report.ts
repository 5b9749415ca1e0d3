import type { Static } from 'typebox';
import { Type } from '../../plugin/index.js';
import type { SlotChange } from '../../state/store/contract/slot-history.js';
import type { Forecast } from './history/forecast.js';
import { IsoTime, isoTime, Nullable } from '../../operator/schemas.js';

/** Forecast of a usage window. */
export const WindowForecast = Type.Object({
  verdict: Type.Enum(['full', 'fills', 'holds', 'unknown'], {
    description:
      'full: nothing is left; fills: full before the reset at the usual pace; holds: not full before it; ' +
      'unknown: too little has been seen since the last reset.',
  }),
  full_at: Nullable(Type.String({ format: 'date-time', description: 'At the median pace since the reset.' })),
  earliest: Nullable(Type.String({ format: 'date-time', description: 'At the pace of its fastest tenth.' })),
  latest: Nullable(
    Type.String({
      format: 'date-time',
      description: 'At the pace of its slowest tenth; null: not before it resets.',
    }),
  ),
  percent_per_hour: Nullable(Type.Number()),
  percent_at_reset: Nullable(Type.Number()),
});

export function forecastReport(forecast: Forecast | null | undefined): Static<typeof WindowForecast> | null {
  if (!forecast) return null;
  return {
    verdict: forecast.verdict,
    full_at: isoTime(forecast.fullAtMs),
    earliest: isoTime(forecast.earliestMs),
    latest: isoTime(forecast.latestMs),
    percent_per_hour: rounded(forecast.percentPerHour),
    percent_at_reset: rounded(forecast.percentAtReset),
  };
}

function rounded(value: number | undefined): number | null {
  return value === undefined ? null : Math.round(value * 100) / 100;
}

/** Change of a slot's state. */
export const SlotChangeReport = Type.Object({
  at: IsoTime,
  state: Type.Enum(['ready', 'cooling', 'rejected', 'paused', 'draining']),
  reason: Nullable(Type.String({ description: 'Of a cooldown.' })),
  until: Nullable(Type.String({ format: 'date-time', description: 'Its expected end when it began.' })),
  cooling_models: Type.Array(Type.String()),
  status: Nullable(Type.Integer({ description: "HTTP status of the upstream's answer that caused it." })),
  code: Nullable(Type.String()),
});

export function slotChangeReport(change: SlotChange): Static<typeof SlotChangeReport> {
  return {
    at: new Date(change.atMs).toISOString(),
    state: change.state,
    reason: change.reason ?? null,
    until: isoTime(change.untilMs),
    cooling_models: [...change.models],
    status: change.status ?? null,
    code: change.code ?? null,
  };
}
