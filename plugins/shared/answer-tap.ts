import type { ModelEvent, ModelEventBatch, Transform } from '@gw2api/gateway/plugin';
import type { Recording } from './recordings.js';

/** Keeps the events of an answer as they pass, up to a size. */
export class AnswerTap implements Transform {
  #left: number;
  #events: (readonly [choice: number, event: string])[] = [];

  constructor(maxChars: number) {
    this.#left = maxChars;
  }

  transform(batch: ModelEventBatch): ModelEventBatch {
    for (const event of batch) this.#keep(event);
    return batch;
  }

  #keep({ choice, data }: ModelEvent): void {
    if (this.#left < 0) return;
    this.#left -= data.length;
    if (this.#left < 0) this.#events = [];
    else this.#events.push([choice, data]);
  }

  /** Nothing if there was no answer, or if it was too large. */
  get recorded(): Pick<Recording, 'answer'> {
    return this.#events.length === 0 ? {} : { answer: this.#events };
  }
}
