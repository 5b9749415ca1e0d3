import type { Limits } from '../plugin/index.js';

/** What the health routes tell. */
export interface Health {
  readonly name: string;
  readonly version: string;
  readonly uptimeSeconds: number;
  readonly limits: Limits;
  readonly slots: { readonly total: number; readonly schedulable: number };
  readonly isDraining: boolean;
}

export interface HealthReport {
  /** Whether requests can be served. */
  readonly isReady: boolean;
  readonly body: object;
}

/** The body of `/health`, `/` and `/v1/meta`; where readiness is asked for (`?ready=1`), `status` tells of that. */
export function healthReport(health: Health, asksReadiness: boolean): HealthReport {
  const { name, version, uptimeSeconds, limits, slots, isDraining } = health;
  const isReady = !isDraining && slots.schedulable > 0;
  const status = isReady || !asksReadiness ? 'ok' : isDraining ? 'shutting_down' : 'not_ready';
  return {
    isReady,
    body: { status, name, version, uptime_seconds: Math.floor(uptimeSeconds), limits, slots },
  };
}
