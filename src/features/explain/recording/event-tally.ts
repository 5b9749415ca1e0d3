import { createHash, type Hash } from 'node:crypto';
import {
  mergeUsage,
  type ModelEvent,
  type ModelEventBatch,
  type Transform,
  type Usage,
} from '../../../plugin/index.js';

/** Tally of the events that have passed one place of an answer. */
export interface EventSum {
  /** Number of events by type. */
  readonly types: Readonly<Record<string, number>>;
  /** Characters of text. */
  readonly characters: number;
  readonly usage: Usage;
  /** Digest of the text. */
  readonly digest: string;
}

/** Counts the events of an answer without changing them. */
export class EventTally implements Transform {
  readonly #types = new Map<string, number>();
  #characters = 0;
  #usage: Usage = {};
  readonly #hash: Hash = createHash('sha256');

  transform(batch: ModelEventBatch): ModelEventBatch {
    for (const event of batch) this.#count(event);
    return batch;
  }

  get sum(): EventSum {
    return {
      types: Object.fromEntries(this.#types),
      characters: this.#characters,
      usage: this.#usage,
      digest: this.#hash.copy().digest('base64url'),
    };
  }

  #count(event: ModelEvent): void {
    this.#types.set(event.type, (this.#types.get(event.type) ?? 0) + 1);
    if (!['message_start', 'message_delta', 'content_block_delta'].includes(event.type)) return;
    const json = jsonOf(event);
    if (json?.type === 'message_start') this.#usage = { ...this.#usage, ...json.message.usage };
    else if (json?.type === 'message_delta' && json.usage) this.#usage = mergeUsage(this.#usage, json.usage);
    else if (json?.type === 'content_block_delta' && json.delta.type === 'text_delta')
      this.#text(json.delta.text);
  }

  #text(text: unknown): void {
    if (typeof text !== 'string') return;
    this.#characters += text.length;
    this.#hash.update(text);
  }
}

/** Undefined for an invalid event, which the answer's readers report. */
function jsonOf(event: ModelEvent): ModelEvent['json'] | undefined {
  try {
    return event.json;
  } catch {
    return undefined;
  }
}
