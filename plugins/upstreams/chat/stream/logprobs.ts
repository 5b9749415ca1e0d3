import { fieldsOf, type Fields } from '../../shared/fields.js';

/** Log probabilities of the tokens of a text, until that is written: a token may be a part of a character. */
export class Logprobs {
  #waiting: unknown[] = [];

  /** Reads those of a choice whose delta has only content; ignores those of thinking and of calls. */
  read(choice: Fields, delta: Fields): void {
    const { content } = fieldsOf(choice['logprobs']);
    if (!Array.isArray(content) || typeof delta['content'] !== 'string' || delta['tool_calls']) return;
    if (this.#waiting.length > maxWaiting) return;
    for (const token of content as readonly unknown[]) this.#waiting.push(token);
  }

  /** Log probabilities of the text that is written now; undefined without any. */
  take(): readonly unknown[] | undefined {
    return this.#waiting.length > 0 ? this.#waiting.splice(0) : undefined;
  }
}

/** Max tokens that wait for a text; further ones are left out. */
const maxWaiting = 1000;
