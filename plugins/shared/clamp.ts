import { withFields, type MessagesRequest } from '@gw2api/gateway/plugin';

/**
 * Lowers `max_tokens` to `cap`, or sets it if the caller left it out; never raises it. A value that is not a
 * number is kept, for the upstream to refuse.
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
  // Thinking shares the budget: without this the upstream would refuse the lowered limit.
  return withFields(request, { max_tokens, thinking: { ...thinking, budget_tokens: max_tokens - 1 } });
}

/** Check at run time, since a Messages body is not validated against its type. */
function isNumber(value: unknown): boolean {
  return typeof value === 'number';
}
