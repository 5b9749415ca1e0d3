import type { Slots, SlotStatus } from '../plugin/index.js';
import type { PrometheusMetrics, Reading } from './metrics.js';

/** Gauges of every slot as it is when somebody looks. */
export function measureSlots(metrics: PrometheusMetrics, slots: Pick<Slots, 'list'>): void {
  for (const [name, { help, read }] of Object.entries(gauges)) {
    const readAll = (): readonly Reading[] =>
      slots.list().map((slot) => ({ labels: { slot: slot.id }, value: read(slot) }));
    metrics.gauge(name, help, ['slot'], readAll);
  }
}

interface Gauge {
  readonly help: string;
  readonly read: (slot: SlotStatus) => number;
}

const gauges: Readonly<Record<string, Gauge>> = {
  gw2api_slot_ready: {
    help: 'Whether the slot takes requests: 1 or 0.',
    read: ({ state }) => (state === 'ready' ? 1 : 0),
  },
  gw2api_slot_in_flight: { help: 'Requests that the slot is serving.', read: ({ inFlight }) => inFlight },
  gw2api_slot_queued: { help: 'Requests that wait for a place in the slot.', read: ({ queued }) => queued },
};
