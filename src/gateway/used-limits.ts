import { fromMeter, type LimitHolder, type MeterReading, type WindowLimit } from '../plugin/core.js';
import { LimitMeters, limitWindow, windowLimits, type Host } from '../plugin/index.js';

type Sources = Pick<Host, 'live' | 'store' | 'log' | 'now' | 'clock'>;

/**
 * Use of the limits of a key or team now, in the limits' own units. Days and months without a request since the start
 * are read from the ledger, and left out if it cannot be read; not for the master key, whose rows may be most of it.
 */
export async function usedLimits(
  holder: LimitHolder | undefined,
  services: Sources,
  limits: readonly WindowLimit[] = windowLimits,
): Promise<Partial<Readonly<Record<WindowLimit, MeterReading>>>> {
  const nowMs = services.now();
  const windows = limits.map((limit) => limitWindow(limit, holder ?? master, nowMs));
  if (holder) {
    const meters = new LimitMeters(services);
    await Promise.all(windows.map((window) => meters.restore(window)));
  }
  const readings = windows.map(async ({ limit, meter, period }) => {
    const reading = await services.live.meters.read(meter);
    if (!reading) return [];
    const resetsInMs = period ? period.toMs - nowMs : reading.resetsInMs; // a meter outlasts its period
    return [[limit, { used: fromMeter(limit, reading.used), resetsInMs }]] as const;
  });
  return Object.fromEntries((await Promise.all(readings)).flat());
}

/** Raises the open meters of these keys and teams to the current totals of the ledger. */
export async function refreshLimits(holders: readonly LimitHolder[], services: Sources): Promise<void> {
  const meters = new LimitMeters(services);
  for (const holder of holders)
    await Promise.all(
      windowLimits.map((limit) => meters.refresh(limitWindow(limit, holder, services.now()))),
    );
}

const master: LimitHolder = { kind: 'key', id: 'master' };
