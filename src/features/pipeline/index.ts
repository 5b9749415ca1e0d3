import type { Feature } from '../feature.js';

/** The stages in force, and the reload of the config. */
export const pipeline: Feature = {
  name: 'pipeline',
  admin: async () => (await import('./admin.js')).adminRoutes,
  panel: async () => (await import('./panel.js')).panelRoutes,
};
