import type { Feature } from '../feature.js';

/** Admin tokens for scripts. */
export const tokens: Feature = {
  name: 'tokens',
  panel: async () => (await import('./panel.js')).panelRoutes,
};
