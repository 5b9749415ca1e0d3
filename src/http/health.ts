import type { Limits } from '../plugin/index.js';

/** What the health routes tell. */
export interface Health {
  readonly name: string;
  readonly version: string;
  readonly uptimeSeconds: number;
  readonly limits: Limits;
  readonly slots: { readonly total: number; readonly schedulable: number };
  readonly isDraining: boolean;
  /** What is not away: requests go on without either. */
  readonly isThere: { readonly store: boolean; readonly live: boolean };
}

export interface HealthReport {
  /** Whether requests can be served. */
  readonly isReady: boolean;
  readonly body: object;
}

/**
 * The body of `/health`, `/` and `/v1/meta`; where readiness is asked for (`?ready=1`), `status` tells of that. Without the
 * store or the other instances it is `degraded`, and still ready: all instances lack them at once, and serve all the same.
 */
export function healthReport(health: Health, asksReadiness: boolean): HealthReport {
  const { name, version, uptimeSeconds, limits, slots, isDraining, isThere } = health;
  const isReady = !isDraining && slots.schedulable > 0;
  const body = {
    status: asksReadiness ? readiness(health, isReady) : 'ok',
    name,
    version,
    uptime_seconds: Math.floor(uptimeSeconds),
    limits,
    slots,
    store: { ok: isThere.store },
    live: { ok: isThere.live },
  };
  return { isReady, body };
}

function readiness({ isDraining, isThere }: Health, isReady: boolean): string {
  if (isReady) return isThere.store && isThere.live ? 'ok' : 'degraded';
  return isDraining ? 'shutting_down' : 'not_ready';
}
