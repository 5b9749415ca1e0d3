import { ModelEvent } from 'gw2api/plugin';
import { estimate } from '../../shared/estimate.js';
import { textOf, type Fields } from '../../shared/fields.js';

/** `message_start` of an answer whose first chunk is given; its input is estimated until the server counts it. */
export function messageStart(
  { id, model }: Fields,
  asked: { readonly model: string; readonly requestBytes: number },
): ModelEvent {
  const message = {
    id: messageId(textOf(id)),
    type: 'message' as const,
    role: 'assistant' as const,
    model: textOf(model) || asked.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: estimate(asked.requestBytes), output_tokens: 0 },
  };
  return ModelEvent.of({ type: 'message_start', message });
}

/** Id of the message: that of the completion, in the form of Messages. */
function messageId(id: string): string {
  const known = id.replace(/^(?:chatcmpl-|msg_)/, '').slice(0, 200);
  return `msg_${known || crypto.randomUUID().replaceAll('-', '')}`;
}
