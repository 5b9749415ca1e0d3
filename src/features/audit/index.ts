import type { Feature } from '../feature.js';

/** The audit log for people. */
export const audit: Feature = {
  name: 'audit',
  panel: async () => (await import('./panel.js')).panelRoutes,
};
