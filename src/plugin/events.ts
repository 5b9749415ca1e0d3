import { dispatch, type DispatchTable } from './dispatch.js';
import { GatewayError } from './error.js';
import { faultIn } from './event-shape.js';
import type { MessagesStreamEvent } from './messages.js';
import { isTooDeep } from './parse-json.js';
import { plainTextDelta } from './plain-delta.js';

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

  /** One that came without a name. Throws as `json` does. */
  static unnamed(data: string): ModelEvent {
    const json = parseEvent(data);
    return new ModelEvent(json.type, data, json);
  }

  /** The JSON text, byte for byte as the upstream sent it unless a stage replaced the event. */
  get data(): string {
    return (this.#data ??= JSON.stringify(this.#json));
  }

  /** The parsed event. Throws `upstream_interrupted` where the upstream sent no JSON, or not what the type stands for. */
  get json(): MessagesStreamEvent {
    return (this.#json ??= readEvent(this.#data ?? '', this.type));
  }

  /** The same event under another choice. */
  withChoice(choice: number): ModelEvent {
    return choice === this.choice ? this : new ModelEvent(this.type, this.#data, this.#json, choice);
  }
}

function readEvent(data: string, type: string): MessagesStreamEvent {
  const delta = type === 'content_block_delta' ? plainTextDelta(data) : undefined;
  return delta ?? parseEvent(data, type);
}

/** `name`: what the event was sent as; an event without a name says its type itself, or is a bare error. */
function parseEvent(data: string, name?: string): MessagesStreamEvent {
  const value = parseObject(data, name);
  const type = name ?? typeOf(value);
  const event = value['type'] === undefined ? { ...value, type } : value;
  const fault = event['type'] === type ? faultIn(event) : 'type';
  if (isTooDeep(event, data)) throw malformed(type, 'that is nested too deeply');
  if (fault !== undefined) throw malformed(type, `whose "${fault}" is not what it should be`);
  return event as unknown as MessagesStreamEvent; // what handlers rely on is as it should be
}

function parseObject(data: string, name = 'nameless'): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(data);
    // Any object may be read by name.
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch (cause) {
    throw malformed(name, 'that is not a JSON object', cause);
  }
  throw malformed(name, 'that is not a JSON object');
}

function typeOf({ type, error }: Readonly<Record<string, unknown>>): string {
  if (typeof type === 'string') return type;
  return error === undefined ? 'message' : 'error';
}

function malformed(name: string, what: string, cause?: unknown): GatewayError {
  return new GatewayError('upstream_interrupted', `The upstream sent a "${name}" event ${what}.`, {
    failure: { kind: 'interrupted' },
    cause,
  });
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
    for (const event of batch) {
      if (Object.hasOwn(map, event.type)) mapped.push(...mapEvent(event, map));
      else mapped.push(event);
    }
  } finally {
    if (mapped.length > 0) yield mapped;
  }
}

function mapEvent(event: ModelEvent, map: EventMap): readonly ModelEvent[] {
  const result = dispatch(map, event.json, event.choice) ?? event.json;
  if (result === event.json) return [event];
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
