import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { UsageError } from '../../gateway/start-failure.js';

/** Questions at a terminal. */
export class Questions {
  readonly #output: NodeJS.WritableStream;
  readonly #lines: ReturnType<typeof createInterface>;
  #isHidden = false;

  constructor(input: NodeJS.ReadableStream, output: NodeJS.WritableStream) {
    this.#output = output;
    const shown = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (!this.#isHidden) output.write(chunk);
        done();
      },
    });
    this.#lines = createInterface({ input, output: shown, terminal: true });
    this.#lines.on('SIGINT', () => this.#lines.close());
  }

  /** Asks until the answer is one of `choices`, or whatever `isValid` takes. */
  async ask(question: string, isValid: (answer: string) => boolean, fallback = ''): Promise<string> {
    const hint = fallback === '' ? '' : ` [${fallback}]`;
    for (let tries = 0; tries < maxTries; tries += 1) {
      const answer = (await this.#line(`${question}${hint}: `)).trim() || fallback;
      if (isValid(answer)) return answer;
    }
    throw new UsageError('That is no answer to the question; see --help for the flags.');
  }

  /** Asks for a secret, which is not shown. */
  async askHidden(question: string): Promise<string> {
    this.#isHidden = true; // before there is anything to be typed
    const asked = this.#line('');
    this.#output.write(`${question}: `);
    const answer = await asked;
    this.#isHidden = false;
    this.#output.write('\n');
    return answer.trim();
  }

  close(): void {
    this.#lines.close();
  }

  /** A line; a UsageError where the input ends, or is ended by Ctrl+C. */
  #line(question: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const ended = () => reject(new UsageError('Nothing is written.', 130));
      this.#lines.once('close', ended);
      void this.#lines
        .question(question)
        .then(resolve, ended)
        .finally(() => this.#lines.off('close', ended));
    });
  }
}

const maxTries = 5;
