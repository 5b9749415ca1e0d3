import type { Message, MessagesRequest } from '#src/plugin/index.js';
import { capabilitiesOf, type ChatOptions } from '#plugins/upstreams/chat/capabilities.js';
import { chatRequest, type ChatRequest } from '#plugins/upstreams/chat/request/chat-request.js';
import type { CallTerms } from '#plugins/upstreams/shared/call-terms.js';
import { reportTo } from '#plugins/upstreams/shared/losses/dropped.js';
import { frozen } from '../../formats/contexts.js';

/** A Chat request of a slot with the given options; `fields` are those of the Messages request. */
export function translate(
  fields: Partial<MessagesRequest>,
  options: Partial<ChatOptions> = {},
  terms: CallTerms = {},
): Omit<ChatRequest, 'body'> & {
  readonly body: Readonly<Record<string, unknown>>;
  readonly dropped: readonly string[];
} {
  const request = frozen({ model: 'm', messages: [{ role: 'user', content: 'hi' } as const], ...fields });
  const capabilities = capabilitiesOf({ preset: 'generic', unsupported: 'report', ...options }, 'slot-a');
  const translation = chatRequest(request, capabilities, terms);
  reportTo({}, translation.losses, capabilities.unsupported);
  return { ...translation, dropped: translation.losses.map(({ path }) => path) };
}

/** The messages alone. */
export function translated(
  messages: readonly Message[],
  options: Partial<ChatOptions> = {},
): readonly object[] {
  return translate({ messages }, options).body['messages'] as readonly object[];
}
