import { namedLimit, withFields, type Loss, type MessagesRequest } from '@gw2api/gateway/plugin';
import type { CallTerms } from './call-terms.js';
import { entryValue, type FindPart } from './losses/refused-part.js';

/** Finds a `max_tokens` above the limit that a refusal names, the gateway's own or one that it has translated. */
export const findLimit: FindPart = (_, { addedLimit, request }, error) => {
  const { max_tokens: wanted } = request;
  const limit = typeof wanted === 'number' ? namedLimit(error, wanted) : undefined;
  const isAsked = addedLimit !== true;
  if (!limit || (isAsked && !limit.isOfModel && limit.tokens < minRoom)) return undefined;
  return { without: `max_tokens=${limit.tokens}`, isOfModel: limit.isOfModel, isAsked };
};

/** Tokens; a context with less space is reported to the caller, who then shortens the prompt. */
const minRoom = 1024;

/**
 * The request within the limit that its upstream has named. A thinking budget above it keeps its share of the limit, so
 * that the answer keeps its own.
 */
export function withinLimit(
  request: MessagesRequest,
  { addedLimit, without }: CallTerms,
): { readonly request: MessagesRequest; readonly losses: readonly Loss[] } {
  const limit = Number(entryValue(without, 'max_tokens') ?? 0);
  const { max_tokens: asked, thinking } = request;
  if (limit === 0 || typeof asked !== 'number' || asked <= limit) return { request, losses: [] };
  const losses: readonly Loss[] = addedLimit ? [] : [{ path: 'max_tokens', kind: 'setting' }];
  if (thinking?.type !== 'enabled' || thinking.budget_tokens < limit)
    return { request: withFields(request, { max_tokens: limit }), losses };
  const share = Math.floor((thinking.budget_tokens * limit) / asked);
  const budget_tokens = Math.max(minBudget, share);
  const fitted = { max_tokens: limit, thinking: { ...thinking, budget_tokens } };
  return { request: withFields(request, fitted), losses };
}

/** Min tokens of the Messages API. */
const minBudget = 1024;
