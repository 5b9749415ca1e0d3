import { randomUUID } from 'node:crypto';
import { within, type Json, type Live } from '../plugin/internal.js';

interface ClusterQueryOptions<Answer extends Json> {
  /** Topic of its messages, the same on every instance. */
  readonly topic: string;
  /** Computes the answer of this instance to a query of another one. */
  readonly answer: () => Answer | Promise<Answer>;
  /** Timeout for the answers of other instances. */
  readonly timeoutMs: number;
}

/** Query to all other instances, over publish/subscribe. Has no cost while nobody asks. */
export class ClusterQuery<Answer extends Json> {
  readonly #live: Live;
  readonly #options: ClusterQueryOptions<Answer>;

  constructor(live: Live, options: ClusterQueryOptions<Answer>) {
    this.#live = live;
    this.#options = options;
    live.messages.receive(this.#asked, (id) => void this.#reply(id));
  }

  /** Returns the answers of the other instances, without those that miss the timeout. */
  async ask(): Promise<readonly Answer[]> {
    const { instances = Infinity, messages, isDown } = this.#live;
    if (instances <= 1 || isDown) return [];
    const id = randomUUID();
    const answers: Answer[] = [];
    let stop: () => void = noop;
    const all = new Promise<void>((resolve) => {
      stop = messages.receive(this.#answered, (message) => {
        const reply = message as { readonly id: string; readonly answer: Answer }; // as `#reply` sends it
        if (reply.id !== id) return;
        answers.push(reply.answer);
        if (answers.length >= instances - 1) resolve();
      });
    });
    messages.send(this.#asked, id);
    await within(all, this.#options.timeoutMs, 'Not all instances have answered.').catch(noop);
    stop();
    return answers;
  }

  async #reply(id: Json): Promise<void> {
    const answer = await this.#options.answer();
    this.#live.messages.send(this.#answered, { id, answer });
  }

  get #asked(): string {
    return `${this.#options.topic}/asked`;
  }

  get #answered(): string {
    return `${this.#options.topic}/answered`;
  }
}

const noop = (): void => undefined;
