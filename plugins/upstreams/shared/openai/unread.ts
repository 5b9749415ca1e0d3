import { longContextBeta, GatewayError, type MessagesRequest } from '@gw2api/gateway/plugin';
import type { CallTerms } from '../call-terms.js';
import type { Dropped } from '../losses/dropped.js';

/**
 * Fields that translations to the other vendor's formats read, or whose loss changes nothing: cache markers, the
 * gateway's own settings.
 */
const readFields: ReadonlySet<string> = new Set(
  (
    'model messages system tools tool_choice max_tokens temperature top_p top_k stop_sequences stream' +
    ' thinking output_config metadata cache_control'
  ).split(' '),
);

/**
 * Reports all other fields of a request, unless they have a no-op value, and a long context requested by the model's
 * name (`[1m]`), since other models have a fixed context.
 */
export function reportUnread(
  request: MessagesRequest,
  dropped: Dropped,
  { headers = {} }: Pick<CallTerms, 'headers'>,
): void {
  if (headers['anthropic-beta']?.includes(longContextBeta)) dropped.add('model');
  for (const [name, value] of Object.entries(request))
    if (!readFields.has(name) && !asksForNothing(value)) dropped.add(name);
  for (const name of Object.keys(request.output_config ?? {}))
    if (name !== 'effort' && name !== 'format') dropped.add(`output_config.${name}`);
}

function asksForNothing(value: unknown): boolean {
  if (value === null || value === undefined || value === 'auto') return true;
  return Array.isArray(value) && value.length === 0;
}

/**
 * Refuses a request whose history is stored by the vendor's server: without it only the newest message would be sent.
 * Clients recognise the code of the details and then send the whole conversation.
 */
export function refuseThread({ thread }: MessagesRequest & { readonly thread?: unknown }): void {
  if (thread === undefined || thread === null) return;
  throw new GatewayError(
    'invalid_request',
    'thread: is not supported by this upstream; leave it out and send the whole conversation.',
    { details: { error_code: 'thread_unsupported_request' } },
  );
}
