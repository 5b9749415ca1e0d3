import type { Feature } from '../feature.js';

/** Sign-in of people: password, OpenID Connect, and their sessions. */
export const login: Feature = {
  name: 'login',
  panel: async () => (await import('./panel.js')).panelRoutes,
};
