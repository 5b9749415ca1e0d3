import type { Extension } from '../../gateway/gateway.js';
import type { RunPlayground } from './playground-run.js';

/** Requests that an operator runs as a key. */
export const playgroundRuns: Extension<RunPlayground> = {
  name: 'playground',
  open: async (gateway) => (await import('./playground.js')).openPlayground(gateway),
};
