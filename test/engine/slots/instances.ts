import type { Live } from '#src/plugin/contract/live.js';
import type { SlotConfig } from '#src/config/config.js';
import type { SlotPoolOptions } from '#src/engine/slots/pool/pool-options.js';
import { MemoryHub } from '#src/state/live/memory/hub.js';
import { MemoryStore } from '#src/state/store/memory/store.js';
import { ManualClock } from '@gw2api/gateway/testing';
import { openPool, type Kit } from './kit.js';

/** Several pools of one config that share what they know, and one store. */
export interface Instances {
  readonly hub: MemoryHub;
  readonly clock: ManualClock;
  readonly store: MemoryStore;
  readonly kits: readonly Kit[];
  /** One more. */
  readonly join: (
    changes?: Omit<Partial<SlotPoolOptions>, 'store' | 'clock'>,
    config?: readonly SlotConfig[],
  ) => Promise<Kit>;
}

export interface Together {
  readonly count?: number;
  /** How an instance is connected; default: everything is known to the others at once. */
  readonly connect?: (hub: MemoryHub) => Live;
}

export async function openInstances(
  slots: readonly SlotConfig[],
  { count = 2, connect = (each) => each.connect() }: Together = {},
): Promise<Instances> {
  const clock = new ManualClock();
  const hub = new MemoryHub({ now: clock.now });
  const store = new MemoryStore({ now: clock.now });
  const join: Instances['join'] = (changes = {}, config = slots) =>
    openPool(config, { clock, store, live: connect(hub), ...changes });
  const kits: Kit[] = [];
  while (kits.length < count) kits.push(await join());
  return { hub, clock, store, kits, join };
}

/** An instance that has to ask for its places, and to which nothing that the others do is known at once. */
export function slowly(hub: MemoryHub): Live {
  const live = hub.connect();
  const { permits, shared, messages } = live;
  const later = (act: () => void): void => void setImmediate(act);
  return {
    ...live,
    permits: {
      take: async (slot, limit) => {
        await new Promise((resolve) => void setImmediate(resolve));
        const isTaken = permits.take(slot, limit);
        await new Promise((resolve) => void setImmediate(resolve));
        return isTaken;
      },
      release: (slot) => later(() => permits.release(slot)),
      heldElsewhere: (slot) => permits.heldElsewhere(slot),
      watch: (listener) => permits.watch((slot) => later(() => listener(slot))),
    },
    shared: {
      ...shared,
      watch: (prefix, listener) => shared.watch(prefix, (key, value) => later(() => listener(key, value))),
    },
    messages: {
      send: (topic, message) => later(() => messages.send(topic, message)),
      receive: (topic, listener) => messages.receive(topic, listener),
    },
  };
}

/** Lets everything go on that needs some turns of the event loop, but no time. */
export async function calm(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
}
