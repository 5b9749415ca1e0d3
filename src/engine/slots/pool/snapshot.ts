import type { SlotConfig } from '../../../config/config.js';
import type { Json } from '../../../plugin/index.js';
import type { SharedMap } from '../../../plugin/core.js';
import { slotKeys } from '../replicated/shared-slot-state.js';
import type { SlotEntry } from './slot-entry.js';
import type { Bindings, SessionBound } from '../sticky/bindings.js';

/** Slots and their state at one time, for a copy of the pool. */
export interface PoolSnapshot {
  readonly slots: readonly SlotConfig[];
  readonly state: SlotsState;
}

/** State of slots, in a form that can be sent to another thread. */
export interface SlotsState {
  /** Entries of the shared map that are about slots, with their lifetimes in milliseconds. */
  readonly shared: readonly (readonly [key: string, value: Json, ttlMs: number])[];
  /** Permits in use, by slot id. */
  readonly inFlight: Readonly<Record<string, number>>;
  /** Sessions of one key that are bound to a slot. */
  readonly bindings: readonly SessionBound[];
}

interface Sources {
  readonly shared: SharedMap;
  readonly bindings: Pick<Bindings, 'ofCaller'>;
  /** Key whose sessions are included. */
  readonly keyId: string;
}

export function snapshotOf(
  entries: readonly SlotEntry[],
  { shared, bindings, keyId }: Sources,
): PoolSnapshot {
  return {
    slots: entries.map(({ config }) => config),
    state: {
      shared: shared.entries(slotKeys).map(([key, value]) => [key, value, shared.ttlMs(key) ?? 0]),
      inFlight: Object.fromEntries(entries.map(({ id, inFlight }) => [id, inFlight])),
      bindings: bindings.ofCaller(keyId, maxBindings),
    },
  };
}

/** Max bindings of a snapshot. */
const maxBindings = 5000;
