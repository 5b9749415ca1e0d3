import type { Feature } from '../feature.js';

/** Sums of the ledger. */
export const usage: Feature = {
  name: 'usage',
  panel: async () => (await import('./panel.js')).panelRoutes,
};
