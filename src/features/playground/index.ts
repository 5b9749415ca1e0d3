import type { Feature } from '../feature.js';
import { playgroundRuns } from './extension.js';

/** Requests that an operator runs as a key. */
export const playground: Feature = {
  ...playgroundRuns,
  panel: async () => (await import('./panel.js')).panelRoutes,
};
