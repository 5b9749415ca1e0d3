import type { Feature } from '../feature.js';

/** Keys of callers and their teams. */
export const keys: Feature = {
  name: 'keys',
  panel: async () => (await import('./panel.js')).panelRoutes,
};
