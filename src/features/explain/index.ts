import type { Feature } from '../feature.js';

/** Explanations of requests, without sending them. */
export const explain: Feature = {
  name: 'explain',
  admin: async () => (await import('./admin.js')).adminRoutes,
  panel: async () => (await import('./panel.js')).panelRoutes,
};
