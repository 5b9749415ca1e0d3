import { EventStream, foldMessage, type MessagesResponse, type ModelEvent } from '#src/plugin/index.js';
import { ResponseEvents } from '#plugins/upstreams/responses/stream/response-events.js';
import { ToolNames } from '#plugins/upstreams/shared/openai/tool-names.js';
import { sentEvents } from '../../formats/streams.js';

/** Messages events of the text of a Responses stream. */
export function translated(stream: string, names = new ToolNames()): readonly ModelEvent[] {
  const answer = new ResponseEvents({ model: 'gpt', vendor: 'slot-a', names, requestBytes: 400 });
  const events: ModelEvent[] = [];
  for (const { event, data } of sentEvents(stream)) {
    if (data !== '[DONE]' && !answer.isOver) answer.read(data, event, events);
  }
  answer.finish();
  return events;
}

/** The whole message that the text of a Responses stream says. */
export function messageOf(events: readonly ModelEvent[]): Promise<MessagesResponse> {
  return foldMessage(
    EventStream.from(
      (async function* oneBatch() {
        yield events;
      })(),
    ),
  );
}

/** The text of a stream with these events. */
export function streamOf(
  ...events: readonly { readonly type: string; readonly [field: string]: unknown }[]
): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}
