import type { ResponseAnswer } from '../answer.js';
import { noSummary, sealSummary } from './compaction.js';
import { responsesParts } from '../parts.js';
import type { AnswerWriter, Ending, PartTable } from '../../shared/answer/answer.js';
import { AnswersReader } from '../../shared/answer/answers.js';
import type { EventReader } from '../../shared/answer/relay.js';

/** Reader of the events of an answer: of its blocks, or of the summary that a `compaction_trigger` asks for. */
export function readerOf(answer: ResponseAnswer): EventReader {
  if (!answer.request.isCompaction) return new AnswersReader(1, responsesParts, () => answer);
  return new AnswersReader(1, summaryParts, () => new CompactionAnswer(answer));
}

/** Answer to a `compaction_trigger`: one sealed item, which holds all text of the model. */
class CompactionAnswer implements AnswerWriter {
  readonly #answer: ResponseAnswer;
  #summary = '';

  constructor(answer: ResponseAnswer) {
    this.#answer = answer;
  }

  start(): void {
    this.#answer.start();
  }

  write(text: string): void {
    this.#summary += text;
  }

  /** Throws `incomplete_response` if the model has written no summary. */
  end({ refusal: _, ...ending }: Ending): void {
    if (ending.stopReason === 'refusal' || this.#summary.trim() === '') throw noSummary();
    const item = { type: 'compaction', encrypted_content: sealSummary(this.#summary) };
    this.#answer.open('cmp', item).done(item);
    this.#answer.end({ ...ending, stopReason: 'end_turn' });
  }
}

const summaryParts: PartTable<CompactionAnswer> = {
  text: (_, answer) => ({ write: (text) => answer.write(text) }),
};
