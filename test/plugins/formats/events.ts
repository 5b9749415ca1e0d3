import { type MessagesStreamEvent, ModelEvent } from '@gw2api/gateway/plugin';

/** Events made of values. */
export function made(...events: readonly MessagesStreamEvent[]): readonly ModelEvent[] {
  return events.map((json) => ModelEvent.of(json));
}

export function messageStart(content: readonly unknown[] = [], id = 'msg_1'): MessagesStreamEvent {
  return {
    type: 'message_start',
    message: {
      id,
      type: 'message',
      role: 'assistant',
      model: 'upstream-model',
      content: content as [], // of any kind
      stop_reason: null,
      stop_sequence: null,
      usage: {
        input_tokens: 10,
        cache_read_input_tokens: 5,
        cache_creation_input_tokens: 3,
        output_tokens: 1,
      },
    },
  };
}

/** A text block that comes in one piece. */
export function text(text: string, index = 0): readonly ModelEvent[] {
  return made(
    { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index },
  );
}

/** A tool call whose input comes in these pieces. */
export function tool(id: string, name: string, ...json: readonly string[]): readonly ModelEvent[] {
  const index = 0;
  return made(
    { type: 'content_block_start', index, content_block: { type: 'tool_use', id, name, input: {} } },
    ...json.map(
      (partial_json) =>
        ({
          type: 'content_block_delta',
          index,
          delta: { type: 'input_json_delta', partial_json },
        }) as const,
    ),
    { type: 'content_block_stop', index },
  );
}

/** The end of a message that the provider refuses to go on with, and says why. */
export function refused(explanation: string | null): readonly ModelEvent[] {
  const stop_details = { type: 'refusal', category: 'cyber', explanation };
  return made(
    { type: 'message_delta', delta: { stop_reason: 'refusal', stop_details }, usage: { output_tokens: 4 } },
    { type: 'message_stop' },
  );
}

/** The end of a message. */
export function end(stop_reason: string): readonly ModelEvent[] {
  return made(
    { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 4 } },
    { type: 'message_stop' },
  );
}
