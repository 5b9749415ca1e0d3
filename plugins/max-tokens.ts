import { definePlugin, Type, withFields } from '@gw2api/gateway/plugin';
import { clamp } from './shared/clamp.js';

/**
 * Keeps one answer from costing more than the model or the operator allows. A limit that the caller has
 * not set is an addition, which the upstream call lowers to the upstream's limit.
 */
export default definePlugin({
  name: 'max-tokens',
  api: 1,
  requires: ['request'],
  provides: ['request', 'additions'],
  options: Type.Object({
    cap: Type.Integer({
      minimum: 1,
      maximum: 128_000,
      default: 128_000,
      description: 'Max output tokens of any request, thinking included.',
    }),
  }),
  setup({ cap }, host) {
    host.announce({ max_tokens: cap });
    return function maxTokens(ctx, next) {
      const { state } = ctx;
      const { request } = state;
      if (request.max_tokens === undefined || request.max_tokens === null)
        state.additions = withFields(state.additions, { limit: true });
      const { maxTokens: limit = cap } = host.models.profile(request.model);
      state.request = clamp(request, Math.min(cap, limit));
      return next();
    };
  },
});
