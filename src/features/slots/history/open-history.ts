import type { Opened } from '../../../gateway/extension.js';
import type { Gateway } from '../../../gateway/gateway.js';
import { Forecasts } from './forecasts.js';
import { SlotWatch } from './slot-watch.js';

export interface SlotHistoryParts {
  readonly slotWatch: SlotWatch;
  /** Forecasts of the usage windows of slots. */
  readonly forecasts: Forecasts;
}

/** Watches the slots of a gateway, except in a dry run. */
export function openHistory({ services }: Gateway): Opened<SlotHistoryParts> {
  const { slots, metrics, log, clock, now, dry } = services;
  const store = services.store.slotHistory;
  const slotWatch = new SlotWatch({ store, log, clock });
  for (const [name, fill] of Object.entries(slotWatch.caches)) metrics.cache(name, fill);
  if (!dry) {
    slots.watch(slotWatch.changed);
    slotWatch.start(() => slots.list());
  }
  return { api: { slotWatch, forecasts: new Forecasts({ store, now }) }, close: () => slotWatch.close() };
}
