import { extrasOf, reportDropped, withExtras, type MessagesRequest } from '@gw2api/gateway/plugin';

/**
 * The request for another model, without `logit_bias`, whose numbers are tokens of the requested model; its loss is
 * reported in the response.
 */
export function forOtherModel(
  request: MessagesRequest,
  model: string,
  response: Parameters<typeof reportDropped>[0],
): MessagesRequest {
  const { logit_bias: bias, ...others } = extrasOf(request);
  if (bias === undefined) return { ...request, model };
  reportDropped(response, ['logit_bias']);
  return withExtras({ ...request, model }, others);
}
