import type { SlotState, SlotStatus, Window } from '../../plugin/core.js';
import type { PrometheusMetrics, Reading } from '../../gateway/telemetry/metrics.js';

const states = ['ready', 'cooling', 'rejected', 'paused', 'draining'] as const satisfies readonly SlotState[];

interface SlotReadings {
  readonly list: () => readonly SlotStatus[];
  /** Permits that this instance holds. */
  readonly held: () => readonly { readonly id: string; readonly count: number }[];
}

/** Gauges of the slots, read at each scrape. */
export function measureSlots(metrics: PrometheusMetrics, { list, held }: SlotReadings): void {
  metrics.gauge('gw2api_slot_in_flight', 'Calls of this instance under way in a slot.', ['slot'], () =>
    held().map(({ id, count }) => ({ labels: { slot: id }, value: count })),
  );
  metrics.gauge(
    'gw2api_slot_capacity',
    'Calls that a slot takes at a time, of all instances together.',
    ['slot'],
    () => list().map(({ id, maxConcurrent }) => ({ labels: { slot: id }, value: maxConcurrent })),
    sharedState,
  );
  metrics.gauge('gw2api_slot_queued', 'Requests that wait for one of their slots.', ['slot'], () =>
    list().map(({ id, queued }) => ({ labels: { slot: id }, value: queued })),
  );
  metrics.gauge(
    'gw2api_slot_state',
    '1 for the current state of a slot, else 0.',
    ['slot', 'state'],
    () =>
      list().flatMap(({ id, state: current }) =>
        states.map((state) => ({ labels: { slot: id, state }, value: Number(state === current) })),
      ),
    sharedState,
  );
  metrics.gauge(
    'gw2api_slot_cooling_models',
    'Models for which a slot cools down.',
    ['slot'],
    () => list().map(({ id, models }) => ({ labels: { slot: id }, value: models.length })),
    sharedState,
  );
  metrics.gauge(
    'gw2api_slot_window_percent_used',
    'How much of a usage window is used, 0 to 100, if the upstream reports it.',
    ['slot', 'window'],
    () => list().flatMap((slot) => windowsOf(slot, ({ percentUsed }) => percentUsed)),
    sharedState,
  );
  metrics.gauge(
    'gw2api_slot_window_reset_timestamp_seconds',
    'Unix time at which a usage window begins anew, if the upstream reports it.',
    ['slot', 'window'],
    () => list().flatMap((slot) => windowsOf(slot, ({ resetsAtMs }) => resetsAtMs / 1000)),
    sharedState,
  );
}

/** Not summed: all processes of a gateway report the same state of a slot. */
const sharedState = { across: 'max' } as const;

function windowsOf({ id, windows }: SlotStatus, read: (window: Window) => number): readonly Reading[] {
  return (['5h', '7d'] as const).flatMap((name) => {
    const window = windows[name];
    return window ? [{ labels: { slot: id, window: name }, value: read(window) }] : [];
  });
}
