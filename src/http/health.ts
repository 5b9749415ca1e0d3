/** What the health routes tell. */
export interface Health {
  readonly name: string;
  readonly version: string;
  readonly uptimeSeconds: number;
  readonly limits: { readonly max_body_bytes: number; readonly max_tokens: number; readonly cache_ttl_seconds: number };
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
