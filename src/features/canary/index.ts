import type { Extension } from '../../gateway/gateway.js';
import type { CanaryReload } from './canary-reload.js';

/** Reloads for a share of new sessions at first. */
export const canary: Extension<CanaryReload> = {
  name: 'canary',
  open: async (gateway) => (await import('./canary-reload.js')).openCanary(gateway),
};
