import { MemoryHub } from '../../state/live/memory/hub.js';
import type { Live } from '../../plugin/core.js';
import type { WholeStore } from '../../state/store/contract/store.js';
import type { SlotsState } from '../../engine/slots/snapshot.js';

/** Live state in memory with the given slots; permits in use are held by another instance. */
export function liveWith({ shared, inFlight }: SlotsState, now: () => number): Live {
  const hub = new MemoryHub({ now });
  const [live, others] = [hub.connect(), hub.connect()];
  for (const [key, value, ttlMs] of shared) live.shared.set(key, value, ttlMs);
  for (const [id, count] of Object.entries(inFlight))
    for (let taken = 0; taken < count; taken += 1) void others.permits.take(id, Infinity);
  return live;
}

/** Binds the sessions. */
export async function bindSessions(
  { bindings }: SlotsState,
  store: Pick<WholeStore, 'bindings'>,
): Promise<void> {
  for (const { key, slotId, untilMs } of bindings)
    await store.bindings.put(key, { slotId, expiresAtMs: untilMs });
}
