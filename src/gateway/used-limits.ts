import type { UsedLimits } from '../dry/settings.js';
import { TokenMeters, tokenLimits, tokenWindow, windowLimits } from '../plugin/internal.js';
import type { Services } from './services.js';

type Sources = Pick<Services, 'live' | 'store' | 'log' | 'now' | 'clock'>;

/**
 * Use of a key's limits now. Days and months that no request has been counted in since the start are read from the
 * ledger, as a request would; not for the master key, whose rows may be most of it.
 */
export async function usedLimits(keyId: string | undefined, services: Sources): Promise<UsedLimits> {
  const nowMs = services.now();
  const id = keyId ?? 'master';
  if (keyId !== undefined) {
    const tokens = new TokenMeters(services);
    await Promise.all(tokenLimits.map((limit) => tokens.read(tokenWindow(limit, id, nowMs))));
  }
  const readings = windowLimits.map(async (limit) => {
    const reading = await services.live.meters.read(tokenWindow(limit, id, nowMs).meter);
    return reading ? ([[limit, reading]] as const) : [];
  });
  return Object.fromEntries((await Promise.all(readings)).flat());
}
