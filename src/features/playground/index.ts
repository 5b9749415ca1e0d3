import type { Feature } from '../feature.js';

/** Requests that an operator runs as a key. */
export const playground: Feature = {
  name: 'playground',
  panel: async () => (await import('./panel.js')).panelRoutes,
};
