import { growingCache } from '../../kit/growing-cache.js';
import type { Live, MeterReading, Meters } from '../../plugin/core.js';
import { ClusterQuery } from './cluster-query.js';

/**
 * Live state whose opened meters never start below the use known to a responding instance, which only grows: the live
 * state may have lost them, and the ledger may not be readable.
 */
export function withUsageFloor(live: Live): Live {
  const meters = flooredMeters(live);
  return {
    instance: live.instance,
    get isDown() {
      return live.isDown;
    },
    get instances() {
      return live.instances;
    },
    get caches() {
      return live.caches ?? {};
    },
    shared: live.shared,
    permits: live.permits,
    messages: live.messages,
    claims: live.claims,
    meters,
    withLock: (name, work) => live.withLock(name, work),
    close: () => live.close(),
  };
}

function flooredMeters(live: Live): Meters {
  const { meters } = live;
  const known = growingCache<{ readonly used: number }>(maxKnown);
  const knownUse = (meter: string): number => known.get(meter)?.used ?? 0;
  const note = (meter: string, reading: MeterReading | undefined): MeterReading | undefined => {
    if (reading && reading.used > knownUse(meter)) known.set(meter, { used: reading.used });
    return reading;
  };
  // Meters of a minute are as many as addresses of callers, and are never opened.
  const noteIfLong = (meter: string, reading: MeterReading | undefined): MeterReading | undefined =>
    reading && (reading.resetsInMs > longMs || known.has(meter)) ? note(meter, reading) : reading;
  const peerReadings = new ClusterQuery<number, string>(live, {
    topic: 'meters/known',
    answer: (meter) => (meter === undefined ? 0 : knownUse(meter)),
    timeoutMs: 250,
  });
  return {
    take: (meter, amount, window) => meters.take(meter, amount, window),
    add: (meter, amount, windowMs) => meters.add(meter, amount, windowMs),
    addOpened: (meter, amount) => {
      const added = meters.addOpened(meter, amount);
      return added instanceof Promise ? added.then((reading) => note(meter, reading)) : note(meter, added);
    },
    read: (meter) => {
      const read = meters.read(meter);
      return read instanceof Promise
        ? read.then((reading) => noteIfLong(meter, reading))
        : noteIfLong(meter, read);
    },
    async open(meter, used, windowMs) {
      const readings = await peerReadings.ask(meter);
      await meters.open(meter, Math.max(used, knownUse(meter), ...readings), windowMs);
    },
    raise: async (meter, used) => note(meter, await meters.raise(meter, used)),
  };
}

/** Meters whose use is remembered here. */
const maxKnown = 20_000;

/** Min remaining time of a meter of a day or a month, which lasts an hour longer. */
const longMs = 30 * 60_000;
