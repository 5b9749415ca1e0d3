import type { Feature } from '../feature.js';

/** Slots, those of the config file and those of the console. */
export const slots: Feature = {
  name: 'slots',
  admin: async () => (await import('./admin.js')).adminRoutes,
  panel: async () => (await import('./panel.js')).panelRoutes,
};
