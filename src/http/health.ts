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

/** The body of `/health`, `/` and `/v1/meta`, and whether requests can be served (`?ready=1`). */
export function healthReport(health: Health): { readonly isReady: boolean; readonly body: object } {
  const { name, version, uptimeSeconds, limits, slots, isDraining } = health;
  return {
    isReady: !isDraining && slots.schedulable > 0,
    body: { status: 'ok', name, version, uptime_seconds: Math.floor(uptimeSeconds), limits, slots },
  };
}
