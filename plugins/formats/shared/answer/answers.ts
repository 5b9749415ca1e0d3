import type { ModelEvent } from '@gw2api/gateway/plugin';
import { AnswerReader, type AnswerWriter, partMaker, type PartTable } from './answer.js';
import type { EventReader } from './relay.js';

/** Reads the interleaved answers to one request: several if it has an `n` or several prompts. */
export class AnswersReader<Writer extends AnswerWriter> implements EventReader {
  readonly #readers: AnswerReader[] = [];

  /** `count`: number of answers that the request asked for; `make` is called for each of them. */
  constructor(count: number, parts: PartTable<Writer>, make: (choice: number) => Writer) {
    for (let choice = 0; choice < count; choice += 1) {
      const writer = make(choice);
      this.#readers.push(new AnswerReader(partMaker(parts, writer), writer));
    }
  }

  get isComplete(): boolean {
    return this.#readers.every((reader) => reader.isComplete);
  }

  add(event: ModelEvent): void {
    this.#readers[event.choice]?.add(event);
  }
}
