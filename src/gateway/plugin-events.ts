import { EventHub } from '../engine/pipeline/stage/event-hub.js';
import type { SlotState, SlotStatus } from '../plugin/core.js';
import type { SettledRequest } from '../plugin/index.js';
import type { LedgerRow } from '../state/ledger/contract.js';
import type { PrometheusMetrics } from './telemetry/metrics.js';

interface EventSources {
  readonly metrics: PrometheusMetrics;
  readonly now: () => number;
  readonly slots: { list(): readonly SlotStatus[]; readonly watch: (listener: () => void) => void };
}

/** Opens the events for stages. Slots are watched from the first listener on. */
export function openPluginEvents({ metrics, now, slots }: EventSources): EventHub {
  const dropped = metrics.counter(
    'gw2api_plugin_events_dropped_total',
    'Events that were dropped because 1,000 were waiting for a listener of a stage.',
    ['event', 'stage'],
  );
  let states: ReadonlyMap<string, SlotState> | undefined;
  const compare = (): void => {
    const before = states;
    if (!before || !hub.has('slot.state')) return;
    states = statesOf(slots.list());
    for (const { id: slot, state, reason, untilMs } of slots.list())
      if (before.get(slot) !== state)
        hub.emit('slot.state', {
          slot,
          state,
          before: before.get(slot) ?? null,
          reason,
          untilMs,
          atMs: now(),
        });
  };
  const hub = new EventHub({
    dropped,
    onFirst(name) {
      if (name !== 'slot.state') return;
      if (!states) slots.watch(compare);
      states = statesOf(slots.list());
    },
  });
  return hub;
}

function statesOf(list: readonly SlotStatus[]): ReadonlyMap<string, SlotState> {
  return new Map(list.map(({ id, state }) => [id, state]));
}

/** Event of a settled request, by its row as it may be shown. */
export function settledRequest(row: LedgerRow): SettledRequest {
  const { trace: _trace, additions: _additions, cache: _cache, ...event } = row;
  return event;
}
