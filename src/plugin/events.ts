import { dispatch, type DispatchTable } from './dispatch.js';
import { GatewayError } from './error.js';
import type { MessagesStreamEvent } from './messages.js';

/** What one network read brought. Events travel in batches: handling each one alone is what costs. */
export type ModelEventBatch = readonly ModelEvent[];

/** A reply on its way: batches of events. Iterating to the end, throwing or `return()` ends the upstream call. */
export type ModelEvents = AsyncIterable<ModelEventBatch>;

/** One event of a Messages stream: its text as it came, its JSON parsed only when someone asks for it. */
export class ModelEvent {
  readonly type: string;
  /** Which of several answers to one request this belongs to; 0 but for `n` > 1 and several prompts. */
  readonly choice: number;
  #data: string | undefined;
  #json: MessagesStreamEvent | undefined;

  /** `data`: the JSON text of the event; `json`: its value where that is at hand. One of them must be given. */
  constructor(type: string, data: string | undefined, json?: MessagesStreamEvent, choice = 0) {
    this.type = type;
    this.#data = data;
    this.#json = json;
    this.choice = choice;
  }

  /** An event made here rather than received. */
  static of(json: MessagesStreamEvent, choice = 0): ModelEvent {
    return new ModelEvent(json.type, undefined, json, choice);
  }

  /** The JSON text, byte for byte as the upstream sent it unless a stage replaced the event. */
  get data(): string {
    return (this.#data ??= JSON.stringify(this.#json));
  }

  /** The parsed event. Throws `upstream_interrupted` where the upstream sent something else than a JSON object. */
  get json(): MessagesStreamEvent {
    return (this.#json ??= parseEvent(this.type, this.#data ?? ''));
  }

  /** The same event under another choice. */
  withChoice(choice: number): ModelEvent {
    return choice === this.choice ? this : new ModelEvent(this.type, this.#data, this.#json, choice);
  }
}

function parseEvent(type: string, data: string): MessagesStreamEvent {
  try {
    const value: unknown = JSON.parse(data);
    // A stream event is an object; its `type` stands in the event already, so the shape is as the upstream says it is.
    if (typeof value === 'object' && value !== null) return value as MessagesStreamEvent;
  } catch (cause) {
    throw notJson(type, cause);
  }
  throw notJson(type);
}

function notJson(type: string, cause?: unknown): GatewayError {
  return new GatewayError(
    'upstream_interrupted',
    `The upstream sent a "${type}" event that is not a JSON object.`,
    {
      failure: { kind: 'interrupted' },
      cause,
    },
  );
}

/**
 * What to do with the named event types: return the event itself to leave it as it came, another one to replace it,
 * several to add, none (`[]`) to drop it. `choice` is the answer it belongs to.
 */
export type EventMap = Partial<
  DispatchTable<MessagesStreamEvent, number, MessagesStreamEvent | readonly MessagesStreamEvent[]>
>;

/**
 * Changes the named event types and lets the rest through unparsed; batches stay batches. What stood before an event that
 * cannot be mapped goes on before the error is thrown.
 */
export async function* mapEvents(events: ModelEvents, map: EventMap): AsyncGenerator<ModelEventBatch> {
  for await (const batch of events) {
    if (batch.some((event) => Object.hasOwn(map, event.type))) yield* mapBatch(batch, map);
    else yield batch;
  }
}

function* mapBatch(batch: ModelEventBatch, map: EventMap): Generator<ModelEventBatch> {
  const mapped: ModelEvent[] = [];
  try {
    for (const event of batch) mapped.push(...mapEvent(event, map));
  } finally {
    if (mapped.length > 0) yield mapped;
  }
}

function mapEvent(event: ModelEvent, map: EventMap): readonly ModelEvent[] {
  if (!Object.hasOwn(map, event.type)) return [event];
  const result = dispatch(map, event.json, event.choice) ?? event.json;
  return [result].flat().map((json) => (json === event.json ? event : ModelEvent.of(json, event.choice)));
}

/** Calls `see` for each event of the named types as it passes; nothing is changed. */
export async function* tapEvents(
  events: ModelEvents,
  see: (event: ModelEvent) => void,
): AsyncGenerator<ModelEventBatch> {
  for await (const batch of events) {
    for (const event of batch) see(event);
    yield batch;
  }
}
