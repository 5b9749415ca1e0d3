import type { Feature } from '../feature.js';
import { liveRequests } from './extension.js';

/** Requests of the ledger, and those that end now. */
export const requests: Feature = {
  ...liveRequests,
  panel: async () => (await import('./panel.js')).panelRoutes,
};
