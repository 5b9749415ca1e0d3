import { definePlugin, Type, withFields, type MessagesRequest } from 'gw2api/plugin';

/** Keeps one answer from costing more than the model or the operator allows (contract §4.3). */
export default definePlugin({
  name: 'max-tokens',
  requires: ['request'],
  provides: ['request'],
  options: Type.Object({
    /** The most output tokens any request gets, thinking included. */
    cap: Type.Integer({ minimum: 1, maximum: 128_000, default: 128_000 }),
  }),
  setup({ cap }, host) {
    host.announce({ max_tokens: cap });
    return function maxTokens(ctx, next) {
      const model = host.models.find(ctx.state.request.model);
      ctx.state.request = clamp(ctx.state.request, Math.min(cap, model?.maxTokens ?? cap));
      return next();
    };
  },
});

/**
 * Lowers `max_tokens` to `cap`, or sets it where the caller left it out; never raises it. What is no number stays, for
 * the upstream to refuse.
 */
export function clamp(request: MessagesRequest, cap: number): MessagesRequest {
  const wanted = request.max_tokens ?? cap;
  if (!isNumber(wanted)) return request;
  const max_tokens = Math.min(wanted, cap);
  if (max_tokens === request.max_tokens) return request;
  const { thinking } = request;
  const isTooMuch =
    thinking?.type === 'enabled' && isNumber(thinking.budget_tokens) && thinking.budget_tokens >= max_tokens;
  if (!isTooMuch) return withFields(request, { max_tokens });
  // Thinking shares the budget: what was lowered here must not be refused for a thinking budget above it.
  return withFields(request, { max_tokens, thinking: { ...thinking, budget_tokens: max_tokens - 1 } });
}

/** Nobody has checked a Messages body, whatever its type says. */
function isNumber(value: unknown): boolean {
  return typeof value === 'number';
}
