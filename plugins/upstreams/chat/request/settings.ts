import type { MessagesRequest } from '@gw2api/gateway/plugin';
import { shortUser } from '../../shared/short-names.js';
import type { Capabilities } from '../capabilities.js';
import type { Conversion } from './content.js';

/** Limits, sampling, the user, and the fields of the stream. */
export function settingFields(
  request: MessagesRequest,
  { capabilities, dropped }: Conversion,
): Readonly<Record<string, unknown>> {
  const { temperature, top_p, top_k, stop_sequences: stops = [] } = request;
  const user = request.metadata?.user_id;
  if (top_k !== undefined && !capabilities.topK) dropped.add('top_k');
  if (stops.length > capabilities.maxStops) dropped.add('stop_sequences');
  if (user && !capabilities.user) dropped.add('metadata.user_id', 'mend');
  const stop = stops.slice(0, capabilities.maxStops);
  return {
    ...limitOf(request, capabilities),
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { top_p }),
    ...(top_k !== undefined && capabilities.topK && { top_k }),
    ...(stop.length > 0 && { stop }),
    ...(user && capabilities.user && { user: shortUser(user) }),
    stream: true,
    ...(capabilities.streamUsage && { stream_options: { include_usage: true } }),
  };
}

/** The gateway's own value for a caller that sets no limit, where the model's is unknown. */
const noLimit = 128_000;

/** Chat needs no limit: without one the server's own applies. */
function limitOf(
  { max_tokens: limit }: MessagesRequest,
  { maxTokens, maxTokensField }: Capabilities,
): Readonly<Record<string, number>> {
  if (limit === undefined || (maxTokens === undefined && limit >= noLimit)) return {};
  return { [maxTokensField]: Math.min(limit, maxTokens ?? limit) };
}
