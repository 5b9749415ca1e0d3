import type { Readable, Writable } from 'node:stream';
import { autocomplete, password, text, type Option } from '@clack/prompts';
import { UsageError } from '../../gateway/start-failure.js';

/** Input and output of a person. */
export interface Streams {
  readonly input: Readable;
  readonly output: Writable & { columns?: number; rows?: number };
}

/** An answer to choose. */
export interface Answer {
  readonly value: string;
  readonly label: string;
  /** Texts that choose it when typed. */
  readonly names: readonly string[];
}

/** Questions at a terminal. Each throws a UsageError if it is cancelled, or if the input ends. */
export class Questions {
  readonly #streams: Streams & { readonly signal: AbortSignal };

  constructor(streams: Streams) {
    const ended = new AbortController();
    streams.input.once('end', () => ended.abort());
    streams.input.on('keypress', lineFeedAsReturn);
    // A terminal that nobody has given a size.
    if (streams.output.columns === 0) Object.assign(streams.output, { columns: 80, rows: 24 });
    this.#streams = { ...streams, signal: ended.signal };
  }

  /** Asks for one of these, by the arrow keys, one of its names, or a part of its label. */
  choose(message: string, answers: readonly Answer[], initialValue: string): Promise<string> {
    const filter = (typed: string, { value, label }: Option<string>): boolean => {
      const named = answers.find(({ names }) => names.includes(typed));
      return named ? named.value === value : `${label}`.toLowerCase().includes(typed.toLowerCase());
    };
    const options = answers.map(({ value, label }) => ({ value, label }));
    return answered(
      autocomplete({ ...this.#streams, message, options, initialValue, maxItems, filter, validate: isOne }),
    );
  }

  /** Asks until `isValid` accepts the answer. */
  async ask(message: string, isValid: (answer: string) => boolean, fallback = ''): Promise<string> {
    const validate = (answer = '') =>
      isValid(answer.trim() || fallback) ? undefined : 'That is not an answer.';
    const hint = fallback === '' ? {} : { placeholder: fallback, defaultValue: fallback };
    return (await answered(text({ ...this.#streams, ...hint, message, validate }))).trim();
  }

  /** Asks for a secret, which is not shown. */
  async askHidden(message: string): Promise<string> {
    return (await answered(password({ ...this.#streams, message }))).trim();
  }
}

const maxItems = 12;

function isOne(chosen: unknown): string | undefined {
  return chosen === undefined ? 'That is not in the list.' : undefined;
}

/** Accepts a line feed as Return: programs that type for a person send it. */
function lineFeedAsReturn(_: unknown, key: { name?: string } | undefined): void {
  if (key?.name === 'enter') key.name = 'return';
}

async function answered(question: Promise<string | symbol>): Promise<string> {
  const answer = await question;
  if (typeof answer !== 'string') throw new UsageError('Nothing is written.', 130); // cancelled
  return answer;
}
