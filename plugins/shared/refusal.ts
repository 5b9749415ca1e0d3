import {
  EventStream,
  ModelEvent,
  type EventOf,
  type MessagesStreamEvent,
  type ModelReply,
} from 'gw2api/plugin';

/** End of an answer that is a refusal. */
export function refusalOf(explanation: string): EventOf<'message_delta'>['delta'] {
  return { stop_reason: 'refusal', stop_sequence: null, stop_details: { type: 'refusal', explanation } };
}

/** Refusal without a call. */
export function refusalReply(model: string, explanation: string): ModelReply {
  const message = {
    id: 'msg_refused',
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 0, output_tokens: 0 },
  } as const;
  const events: readonly MessagesStreamEvent[] = [
    { type: 'message_start', message },
    { type: 'message_delta', delta: refusalOf(explanation), usage: { output_tokens: 0 } },
    { type: 'message_stop' },
  ];
  const batch = events.map((event) => ModelEvent.of(event));
  return { status: 200, headers: {}, model: '', attempts: 0, events: EventStream.from(once(batch)) };
}

async function* once<Value>(value: Value): AsyncGenerator<Value> {
  yield value;
}
