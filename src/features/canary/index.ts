import type { Feature } from '../feature.js';
import { canary as extension } from './extension.js';

/** Reloads for a share of new sessions at first. */
export const canary: Feature = {
  ...extension,
  admin: async () => (await import('./admin.js')).adminRoutes,
  panel: async () => (await import('./panel.js')).panelRoutes,
};
