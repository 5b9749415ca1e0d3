import { LRUCache } from 'lru-cache';
import {
  EventStream,
  ModelEvent,
  type ModelEventBatch,
  type ModelReply,
  type Transform,
} from '@gw2api/gateway/plugin';

export interface AnswerCacheOptions {
  readonly ttlMs: number;
  readonly maxBytes: number;
  readonly maxEachBytes: number;
  readonly now: () => number;
}

type StoredEvent = readonly [type: string, data: string];

interface Answer {
  readonly model: string;
  readonly events: readonly StoredEvent[];
  readonly bytes: number;
  readonly atMs: number;
}

/** Complete answers by key, bounded in size and age; the least recently used go first. */
export class AnswerCache {
  readonly #options: AnswerCacheOptions;
  readonly #answers: LRUCache<string, Answer>;

  constructor(options: AnswerCacheOptions) {
    this.#options = options;
    this.#answers = new LRUCache({ maxSize: options.maxBytes, sizeCalculation: ({ bytes }) => bytes });
  }

  /** Bytes in use, and their limit. */
  get stats(): { readonly entries: number; readonly capacity: number } {
    return { entries: this.#answers.calculatedSize, capacity: this.#options.maxBytes };
  }

  /** Reply without a call, and without the tokens of one. */
  get(key: string): ModelReply | undefined {
    const answer = this.#answers.get(key);
    if (!answer || this.#options.now() - answer.atMs >= this.#options.ttlMs) return undefined;
    const { model, events } = answer;
    return { status: 200, headers: {}, model, attempts: 0, events: EventStream.from(replay(events)) };
  }

  /** Passes an answer on, and keeps it once it is complete. */
  keep(key: string, { events, model }: ModelReply): EventStream {
    const { maxEachBytes, now } = this.#options;
    const kept = new KeptEvents(maxEachBytes, (events, bytes) =>
      this.#answers.set(key, { model, events, bytes, atMs: now() }),
    );
    return events.through(kept);
  }
}

/** Keeps the events of an answer as they pass, up to a size. */
class KeptEvents implements Transform {
  readonly #maxBytes: number;
  readonly #onWhole: (events: readonly StoredEvent[], bytes: number) => void;
  readonly #events: StoredEvent[] = [];
  #bytes = 0;
  #isWhole = false;

  constructor(maxBytes: number, onWhole: (events: readonly StoredEvent[], bytes: number) => void) {
    this.#maxBytes = maxBytes;
    this.#onWhole = onWhole;
  }

  transform(batch: ModelEventBatch): ModelEventBatch {
    for (const event of batch) if (event.type !== 'ping' && this.#bytes <= this.#maxBytes) this.#keep(event);
    return batch;
  }

  #keep(event: ModelEvent): void {
    const data = withoutUsage(event);
    this.#events.push([event.type, data]);
    this.#bytes += 2 * data.length + eventBytes;
    if (event.type === 'message_delta') this.#isWhole = isEnd(event);
    const isLast = event.type === 'message_stop' && this.#isWhole;
    if (isLast && this.#bytes <= this.#maxBytes) this.#onWhole(this.#events, this.#bytes);
  }
}

/** Memory of an event besides its text. */
const eventBytes = 100;

/** False for an answer that was cut off, refused or interrupted. */
function isEnd({ json }: ModelEvent): boolean {
  return json.type === 'message_delta' && ends.has(json.delta.stop_reason);
}

const ends: ReadonlySet<unknown> = new Set(['end_turn', 'stop_sequence', 'tool_use']);

/** Text of an event; its report of tokens is that of a call which uses none. */
function withoutUsage(event: ModelEvent): string {
  if (event.type !== 'message_start' && event.type !== 'message_delta') return event.data;
  const { json } = event;
  if (json.type === 'message_start')
    return JSON.stringify({
      ...json,
      message: { ...json.message, usage: { input_tokens: 0, output_tokens: 0 } },
    });
  return JSON.stringify({ ...json, usage: { output_tokens: 0 } });
}

async function* replay(events: readonly StoredEvent[]): AsyncGenerator<ModelEventBatch> {
  for (let at = 0; at < events.length; at += batchSize)
    yield events.slice(at, at + batchSize).map(([type, data]) => new ModelEvent(type, data));
}

const batchSize = 64;
