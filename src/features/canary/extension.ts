import type { Extension } from '../../gateway/gateway.js';
import { canaryReloads } from '../../gateway/reload/canary-reloads.js';
import type { CanaryReload } from './canary-reload.js';

/** Canary of a gateway, by the name under which reloads and workers find it. */
export const canary: Extension<CanaryReload> = {
  name: canaryReloads.name,
  open: async (gateway) => (await import('./canary-reload.js')).openCanary(gateway),
};
