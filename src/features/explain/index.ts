import type { Feature } from '../feature.js';
import { explanations } from './extension.js';

/** Explanations of requests, without sending them. */
export const explain: Feature = {
  ...explanations,
  admin: async () => (await import('./admin.js')).adminRoutes,
  panel: async () => (await import('./panel.js')).panelRoutes,
};
