import type { Extension } from '../../gateway/gateway.js';
import type { LiveExplainer } from './live-explainer.js';

/** Explanations of requests, in threads of their own. */
export const liveExplainer: Extension<LiveExplainer> = {
  name: 'explain',
  async open(gateway) {
    const { LiveExplainer } = await import('./live-explainer.js');
    return { api: new LiveExplainer(gateway) };
  },
};
