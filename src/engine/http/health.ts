import { GatewayError } from '../../plugin/index.js';
import type { Limits } from '../../plugin/core.js';

/** Health data for the health routes. */
export interface Health {
  readonly name: string;
  readonly version: string;
  readonly uptimeSeconds: number;
  readonly limits: Limits;
  readonly slots: { readonly total: number; readonly schedulable: number };
  /** True if a slot takes requests, or will do so after its cooldown. */
  readonly hasOpenSlots: boolean;
  readonly isDraining: boolean;
  /** False for a server that is down; requests are served without either. */
  readonly isUp: { readonly store: boolean; readonly live: boolean };
}

interface HealthReport {
  /** True if requests can be served. */
  readonly isReady: boolean;
  readonly body: object;
}

/**
 * Body of `/health`, `/` and `/v1/meta`; with `?ready=1` its `status` reports readiness. Without the store or the other
 * instances it is `degraded` but still ready, since all instances lose them at once and keep serving; likewise while
 * slots only cool down.
 */
export function healthReport(health: Health, ofReadiness: boolean): HealthReport {
  const { name, version, uptimeSeconds, limits, slots, hasOpenSlots, isDraining, isUp } = health;
  const isReady = !isDraining && hasOpenSlots;
  const body = {
    status: ofReadiness ? readiness(health, isReady) : 'ok',
    name,
    version,
    uptime_seconds: Math.floor(uptimeSeconds),
    limits,
    slots,
    store: { ok: isUp.store },
    live: { ok: isUp.live },
  };
  return { isReady, body };
}

function readiness({ slots, isDraining, isUp }: Health, isReady: boolean): string {
  if (isReady) return isUp.store && isUp.live && slots.schedulable > 0 ? 'ok' : 'degraded';
  return isDraining ? 'shutting_down' : 'not_ready';
}

/** Values of the query parameter `ready`. */
const readyValues = ['1', 'true', '0', 'false'] as const;

/**
 * True if readiness is requested. Throws `invalid_request` for another value, so that a mistyped probe does not
 * succeed.
 */
export function asksReadiness(query: URLSearchParams): boolean {
  const value = query.get('ready');
  if (value === null) return false;
  if (!(readyValues as readonly string[]).includes(value)) {
    const given = JSON.stringify(value.slice(0, 100));
    throw new GatewayError(
      'invalid_request',
      `ready: must be one of ${readyValues.join(', ')}, not ${given}`,
    );
  }
  return value === '1' || value === 'true';
}
