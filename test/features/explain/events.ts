import { ModelEvent, type ModelEventBatch } from '#src/plugin/index.js';

/** An answer that says `hello`, with a ping. */
export async function* textEvents(): AsyncGenerator<ModelEventBatch> {
  const message = {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    usage: { input_tokens: 3 },
  };
  yield [
    { type: 'message_start', message },
    { type: 'ping' },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ].map((event) => ModelEvent.of(event as never));
}
