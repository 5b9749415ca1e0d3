import { randomUUID } from 'node:crypto';
import type { StopReason } from '../../contract/messages.js';
import type { ModelReply } from '../../contract/state.js';
import { EventStream } from '../stream/event-stream.js';
import { ModelEvent, type ModelEventBatch } from '../events.js';

export interface TextReplyOptions {
  /** Default `end_turn`; `refusal` reads as a refusal in every dialect. */
  readonly stopReason?: StopReason;
  /** Catalog id of the model that has written the text; default none, so that the answer names the requested one. */
  readonly model?: string;
}

/** Reply with a text and without a call: no slot is taken, and nothing is billed. */
export function textReply(
  text: string,
  { stopReason = 'end_turn', model = '' }: TextReplyOptions = {},
): ModelReply {
  const events = EventStream.from(oneBatch(text, stopReason, model));
  return { status: 200, headers: {}, model, attempts: 0, events };
}

async function* oneBatch(
  text: string,
  stop_reason: StopReason,
  model: string,
): AsyncGenerator<ModelEventBatch> {
  const message = {
    id: `msg_${randomUUID().replaceAll('-', '')}`,
    type: 'message' as const,
    role: 'assistant' as const,
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 0, output_tokens: 0 },
  };
  yield [
    ModelEvent.of({ type: 'message_start', message }),
    ModelEvent.of({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ModelEvent.of({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    ModelEvent.of({ type: 'content_block_stop', index: 0 }),
    ModelEvent.of({
      type: 'message_delta',
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: 0 },
    }),
    ModelEvent.of({ type: 'message_stop' }),
  ];
}
