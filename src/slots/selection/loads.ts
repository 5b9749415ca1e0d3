import { load } from './policies.js';
import type { SlotEntry } from '../slot-entry.js';

/** The one with the least in-flight per weight. */
export function leastLoaded(entries: readonly SlotEntry[]): SlotEntry | undefined {
  return entries.toSorted((a, b) => loadOf(a) - loadOf(b))[0];
}

function loadOf({ places, config: { weight } }: SlotEntry): number {
  return load({ inFlight: places.claimed, weight });
}

/** How many places these slots have in all. */
export function placesOf(entries: readonly SlotEntry[]): number {
  return entries.reduce((sum, { config }) => sum + config.maxConcurrent, 0);
}
