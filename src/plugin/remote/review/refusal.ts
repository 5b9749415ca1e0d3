import { randomUUID } from 'node:crypto';
import type { MessagesResponse } from '../../contract/messages.js';
import { ModelEvent } from '../../events/events.js';
import type { AnswerGrammar } from './grammar.js';

/** State of an answer that ends as a refusal. */
export interface RefusedAnswer {
  /** Events that have passed on. */
  readonly grammar: AnswerGrammar;
  /** Events that do not pass on; the start of the answer is taken from them. */
  readonly chunk: readonly ModelEvent[];
  /** Characters that have passed on. */
  readonly sentChars: number;
}

/** Last events of an answer that ends as a refusal; with the message as its text if nothing has passed on. */
export function refusalEvents(
  message: string,
  { grammar, chunk, sentChars }: RefusedAnswer,
): readonly ModelEvent[] {
  const choice = chunk[0]?.choice ?? 0;
  const index = grammar.nextIndex;
  const text = [
    ModelEvent.of({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } }, choice),
    ModelEvent.of(
      { type: 'content_block_delta', index, delta: { type: 'text_delta', text: message } },
      choice,
    ),
    ModelEvent.of({ type: 'content_block_stop', index }, choice),
  ];
  const isBegun = grammar.nextIndex > 0;
  const stop_details = { type: 'refusal', explanation: message };
  return [
    ...(grammar.hasStarted ? [] : [startOf(chunk, choice)]),
    ...grammar.openBlocks.map((open) => ModelEvent.of({ type: 'content_block_stop', index: open }, choice)),
    ...(isBegun ? [] : text),
    ModelEvent.of(
      {
        type: 'message_delta',
        delta: { stop_reason: 'refusal', stop_sequence: null, stop_details },
        usage: { output_tokens: Math.max(1, Math.ceil(sentChars / 4)) },
      },
      choice,
    ),
    ModelEvent.of({ type: 'message_stop' }, choice),
  ];
}

/** The start of the answer without content; one of its own if the answer has none. */
function startOf(chunk: readonly ModelEvent[], choice: number): ModelEvent {
  const json = chunk.find(({ type }) => type === 'message_start')?.json;
  const message: MessagesResponse =
    json?.type === 'message_start'
      ? { ...json.message, content: [], stop_reason: null }
      : {
          id: `msg_${randomUUID().replaceAll('-', '')}`,
          type: 'message',
          role: 'assistant',
          model: '',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 0, output_tokens: 0 },
        };
  return ModelEvent.of({ type: 'message_start', message }, choice);
}
