import type { Feature } from '../feature.js';

/** Requests of the ledger, and those that end now. */
export const requests: Feature = {
  name: 'requests',
  panel: async () => (await import('./panel.js')).panelRoutes,
};
