import { createHash } from 'node:crypto';
import type { MessagesRequest } from 'gw2api/plugin';
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

/** Limit of OpenAI; agent CLIs send longer names. */
const maxUserLength = 64;

function shortUser(user: string): string {
  return user.length <= maxUserLength ? user : createHash('sha256').update(user).digest('hex');
}

/** Fields that are read, or whose loss changes nothing: cache markers, what the gateway itself sets. */
const readFields: ReadonlySet<string> = new Set(
  (
    'model messages system tools tool_choice max_tokens temperature top_p top_k stop_sequences stream' +
    ' thinking output_config metadata cache_control'
  ).split(' '),
);

/** Reports all other fields of a request, unless their value asks for nothing. */
export function reportUnread(request: MessagesRequest, { dropped }: Conversion): void {
  for (const [name, value] of Object.entries(request))
    if (!readFields.has(name) && !asksForNothing(value)) dropped.add(name);
  for (const name of Object.keys(request.output_config ?? {}))
    if (name !== 'effort' && name !== 'format') dropped.add(`output_config.${name}`);
}

function asksForNothing(value: unknown): boolean {
  if (value === null || value === undefined || value === 'auto') return true;
  return Array.isArray(value) && value.length === 0;
}
