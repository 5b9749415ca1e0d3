import { EventStream, foldMessage, type MessagesResponse, type ModelEvent } from '@gw2api/gateway/plugin';
import { ToolNames } from '#plugins/upstreams/shared/openai/tool-names.js';
import { ChatAnswer, type ChatAnswerOptions } from '#plugins/upstreams/chat/stream/chat-answer.js';

export interface Translated {
  readonly events: readonly ModelEvent[];
  readonly message: MessagesResponse;
}

/** Chunk with one choice. */
export function chunk(delta: object, finish: string | null = null, fields: object = {}): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    model: 'm-2026',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...fields,
  };
}

/** Chunk at the end of a stream, with the counts alone. */
export function counts(usage: object): object {
  return { id: 'chatcmpl-1', object: 'chat.completion.chunk', choices: [], usage };
}

/** Events of the chunks, and of the end of the body; a text is sent as it is. */
export function eventsOf(...chunks: readonly (object | string)[]): readonly ModelEvent[] {
  return eventsWith({}, chunks);
}

/** The same of a slot with these options. */
export function eventsWith(
  options: Partial<ChatAnswerOptions>,
  chunks: readonly (object | string)[],
): readonly ModelEvent[] {
  const asked = { model: 'm', vendor: 'acme', names: new ToolNames(), requestBytes: 400 };
  const answer = new ChatAnswer({ ...asked, ...options });
  const events: ModelEvent[] = [];
  for (const each of chunks) {
    if (answer.isOver) break;
    answer.read(typeof each === 'string' ? each : JSON.stringify(each), undefined, events);
  }
  if (!answer.isOver) answer.finish(events);
  return events;
}

export async function translate(...chunks: readonly (object | string)[]): Promise<Translated> {
  return folded(eventsOf(...chunks));
}

/** Events with the message that they make. */
export async function folded(events: readonly ModelEvent[]): Promise<Translated> {
  return { events, message: await foldMessage(EventStream.from(once(events))) };
}

async function* once(events: readonly ModelEvent[]): AsyncGenerator<readonly ModelEvent[]> {
  yield events;
}
