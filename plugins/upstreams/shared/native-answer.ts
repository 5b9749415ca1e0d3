import { ModelEvent, type MessagesStreamEvent, type Usage } from 'gw2api/plugin';
import type { SseTranslator } from 'gw2api/plugin/upstream';

type EventOf<Type extends string> = Extract<MessagesStreamEvent, { readonly type: Type }>;

/** Translator whose answers have all members that typed clients of the Messages API require. */
export class NativeAnswer implements SseTranslator {
  readonly #translator: SseTranslator;

  constructor(translator: SseTranslator) {
    this.#translator = translator;
  }

  get isOver(): boolean {
    return this.#translator.isOver;
  }

  get settlesInMs(): number | undefined {
    return this.#translator.settlesInMs;
  }

  read(data: string, name: string | undefined, events: ModelEvent[]): void {
    const from = events.length;
    this.#translator.read(data, name, events);
    complete(events, from);
  }

  finish(events: ModelEvent[]): void {
    const from = events.length;
    this.#translator.finish(events);
    complete(events, from);
  }
}

/** The events of a whole answer, with the members that `NativeAnswer` adds. */
export function nativeEvents(events: readonly ModelEvent[]): readonly ModelEvent[] {
  const native = [...events];
  complete(native, 0);
  return native;
}

/** Replaces the first and the last event of an answer among those from an index on. */
function complete(events: ModelEvent[], from: number): void {
  for (let at = from; at < events.length; at += 1) {
    const event = events[at];
    if (event?.type === 'message_start') events[at] = started(event);
    else if (event?.type === 'message_delta') events[at] = ended(event);
  }
}

function started(event: ModelEvent): ModelEvent {
  const { message, ...others } = event.json as EventOf<'message_start'>; // by its type
  const usage = { ...unknownOfStart, ...message.usage };
  const nulls = { container: null, stop_details: null };
  return ModelEvent.of({ ...others, message: { ...nulls, ...message, id: nativeId(message.id), usage } });
}

function ended(event: ModelEvent): ModelEvent {
  const { delta, usage, ...others } = event.json as EventOf<'message_delta'>; // by its type
  const { stop_details: details } = delta;
  const refusal = details && { type: 'refusal', category: null, explanation: details.explanation ?? null };
  return ModelEvent.of({
    ...others,
    delta: { container: null, ...delta, stop_details: refusal ?? null },
    usage: { ...unknown, ...usage },
  });
}

/** An upstream's id in the form of Messages; the same each time. */
function nativeId(id: string): string {
  return `msg_${id.replace(/^(?:msg_|resp_|chatcmpl-)+/, '')}`;
}

/** Counts of an answer that its upstream does not tell. */
const unknown: Usage = {
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens_details: null,
  server_tool_use: null,
};

const unknownOfStart: Usage = {
  ...unknown,
  cache_creation: null,
  inference_geo: null,
  service_tier: null,
  speed: null,
};
