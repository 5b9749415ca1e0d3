import { load } from './policies.js';
import type { SlotEntry } from '../slot-entry.js';

/** Slot with the min in-flight per weight. */
export function leastLoaded(entries: readonly SlotEntry[]): SlotEntry | undefined {
  return entries.toSorted((a, b) => loadOf(a) - loadOf(b))[0];
}

function loadOf({ places, config: { weight } }: SlotEntry): number {
  return load({ inFlight: places.claimed, weight });
}

/** Total permits of these slots. */
export function placesOf(entries: readonly SlotEntry[]): number {
  return entries.reduce((sum, { config }) => sum + config.maxConcurrent, 0);
}
