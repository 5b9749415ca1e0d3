import type { Extension } from '../../gateway/gateway.js';
import type { Explanations } from './explanations.js';

/** Explanations of requests, in threads of their own. */
export const explanations: Extension<Explanations> = {
  name: 'explain',
  async open(gateway) {
    const { Explanations } = await import('./explanations.js');
    return { api: new Explanations(gateway) };
  },
};
