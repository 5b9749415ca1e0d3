import type { Feature } from '../feature.js';
import { liveRequests } from './extension.js';

/** Requests of the ledger, and the live feed of ended ones. */
export const requests: Feature = {
  ...liveRequests,
  panel: async () => (await import('./panel.js')).panelRoutes,
};
