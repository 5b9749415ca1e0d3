import {
  definePlugin,
  namedLimit,
  Type,
  withFields,
  type MessagesRequest,
  type ModelCall,
  type ModelReply,
  type Models,
} from 'gw2api/plugin';
import { clamp } from './shared/clamp.js';

/** Keeps one answer from costing more than the model or the operator allows (contract §4.3). */
export default definePlugin({
  name: 'max-tokens',
  api: 1,
  requires: ['request'],
  provides: ['request'],
  intercepts: true,
  options: Type.Object({
    /** Max output tokens of any request, thinking included. */
    cap: Type.Integer({ minimum: 1, maximum: 128_000, default: 128_000 }),
  }),
  setup({ cap }, host) {
    host.announce({ max_tokens: cap });
    // Requests whose callers have set no limit, with the caps that upstreams have named, by model.
    const ours = new WeakMap<object, Map<string, number>>();
    return {
      middleware(ctx, next) {
        const { state } = ctx;
        const { request } = state;
        if (request.max_tokens === undefined || request.max_tokens === null) ours.set(ctx, new Map());
        const { maxTokens: limit = cap } = host.models.profile(request.model);
        state.request = clamp(request, Math.min(cap, limit));
        return next();
      },
      applies: (ctx) => ours.has(ctx),
      intercept: (request, call, ctx) =>
        withinLimit(request, call, { models: host.models, named: ours.get(ctx) }),
    };
  },
});

/**
 * Retries once with the limit that the upstream names, if it refuses a `max_tokens` that the caller did not
 * set. Learns the model's cap only after a call with it has succeeded: a refusal may quote text of the
 * caller.
 */
async function withinLimit(
  request: MessagesRequest,
  call: ModelCall,
  { models, named }: { readonly models: Models; readonly named: Map<string, number> | undefined },
): Promise<ModelReply> {
  const { model } = request;
  const confirmed = (reply: ModelReply, { max_tokens }: MessagesRequest): ModelReply => {
    if (max_tokens !== undefined && max_tokens === named?.get(model))
      models.learn(model, { maxTokens: max_tokens });
    return reply;
  };
  const cap = Math.min(named?.get(model) ?? Infinity, models.profile(model).maxTokens ?? Infinity);
  const asked = fitted(request, cap);
  try {
    return confirmed(await call(asked), asked);
  } catch (error) {
    const limit = namedLimit(error, asked.max_tokens ?? Infinity);
    if (!limit) throw error;
    if (limit.isOfModel) named?.set(model, limit.tokens);
    const lowered = fitted(asked, limit.tokens);
    const reply = confirmed(await call(lowered), lowered);
    return withFields(reply, { attempts: reply.attempts + 1 });
  }
}

/** As `clamp`; a budget for thinking that is too much then keeps its share, so that the answer keeps its own. */
function fitted(request: MessagesRequest, cap: number): MessagesRequest {
  const clamped = clamp(request, cap);
  const { max_tokens: before, thinking } = request;
  if (thinking?.type !== 'enabled' || clamped.thinking === thinking || !before) return clamped;
  const share = Math.floor((thinking.budget_tokens * cap) / before);
  return withFields(clamped, { thinking: { ...thinking, budget_tokens: Math.max(minBudget, share) } });
}

/** Tokens; the upstream refuses less. */
const minBudget = 1024;
