import { ModelEvent, type MessagesResponse } from '@gw2api/gateway/plugin';
import { blockEvents } from '@gw2api/gateway/plugin/upstream';

/** A whole message as the batch of events that a stream of it would have been. */
export function eventsOf(message: MessagesResponse): readonly ModelEvent[] {
  const { content, stop_reason, stop_sequence, usage } = message;
  const start = { ...message, content: [], stop_reason: null, stop_sequence: null };
  return [
    ModelEvent.of({ type: 'message_start', message: start }),
    ...content.flatMap(blockEvents),
    ModelEvent.of({ type: 'message_delta', delta: { stop_reason, stop_sequence }, usage }),
    ModelEvent.of({ type: 'message_stop' }),
  ];
}
