import { namedLimit, withFields, type MessagesRequest, type SlotCall } from 'gw2api/plugin';
import type { FindPart } from './refused-part.js';
import { entryValue } from './without.js';

/** Finds a `max_tokens` of the gateway above the limit that a refusal names. */
export const findLimit: FindPart = (_, { addedLimit, request }, error) => {
  const limit = addedLimit && namedLimit(error, request.max_tokens ?? Infinity);
  if (!limit) return undefined;
  return { without: `max_tokens=${limit.tokens}`, isOfModel: limit.isOfModel, isAsked: false };
};

/**
 * The request within the limit that its upstream has named. A budget for thinking that is too much then keeps its
 * share, so that the answer keeps its own.
 */
export function withinLimit(request: MessagesRequest, without: SlotCall['without']): MessagesRequest {
  const limit = Number(entryValue(without, 'max_tokens') ?? 0);
  const { max_tokens: asked, thinking } = request;
  if (limit === 0 || typeof asked !== 'number' || asked <= limit) return request;
  if (thinking?.type !== 'enabled' || thinking.budget_tokens < limit)
    return withFields(request, { max_tokens: limit });
  const share = Math.floor((thinking.budget_tokens * limit) / asked);
  const budget_tokens = Math.max(minBudget, share);
  return withFields(request, { max_tokens: limit, thinking: { ...thinking, budget_tokens } });
}

/** Tokens; the Messages API refuses less. */
const minBudget = 1024;
