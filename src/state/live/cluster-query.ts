import { randomUUID } from 'node:crypto';
import { isRecord } from '../../kit/schema/record.js';
import { within } from '../../kit/time/within.js';
import type { Json } from '../../plugin/index.js';
import type { Live } from '../../plugin/core.js';

interface ClusterQueryOptions<Answer extends Json, Question extends Json> {
  /** Topic of its messages, the same on every instance. */
  readonly topic: string;
  /** Computes the answer of this instance to a query of another one; without a question, if that has none. */
  readonly answer: (question: Question | undefined) => Answer | Promise<Answer>;
  /** Timeout for the answers of other instances. */
  readonly timeoutMs: number;
}

/** Query to all other instances, over publish/subscribe. Costs nothing while unused. */
export class ClusterQuery<Answer extends Json, Question extends Json = never> {
  readonly #live: Live;
  readonly #options: ClusterQueryOptions<Answer, Question>;

  constructor(live: Live, options: ClusterQueryOptions<Answer, Question>) {
    this.#live = live;
    this.#options = options;
    live.messages.receive(this.#asked, (message) => void this.#reply(message));
  }

  /** Returns the answers of the other instances, without those that miss the timeout. */
  async ask(question?: Question): Promise<readonly Answer[]> {
    const { instances = Infinity, messages, isDown } = this.#live;
    if (instances <= 1 || isDown) return [];
    const id = randomUUID();
    const answers: Answer[] = [];
    let stop: () => void = noop;
    const all = new Promise<void>((resolve) => {
      stop = messages.receive(this.#answered, (message) => {
        const reply = message as { readonly id: Json; readonly answer: Answer }; // as `#reply` sends it
        if (idOf(reply.id) !== id) return;
        answers.push(reply.answer);
        if (answers.length >= instances - 1) resolve();
      });
    });
    messages.send(this.#asked, question === undefined ? id : { id, version, question });
    await within(all, this.#options.timeoutMs, 'Not all instances answered.').catch(noop);
    stop();
    return answers;
  }

  async #reply(message: Json): Promise<void> {
    const { question } = message as { readonly question?: Question }; // as `ask` sends it; of a text there is none
    const answer = await this.#options.answer(question);
    this.#live.messages.send(this.#answered, { id: idOf(message) ?? message, answer });
  }

  get #asked(): string {
    return `${this.#options.topic}/asked`;
  }

  get #answered(): string {
    return `${this.#options.topic}/answered`;
  }
}

/** Id of a query: the message itself, or a field of it. Former versions send a message back whole. */
function idOf(message: Json): Json | undefined {
  return isRecord(message) ? message['id'] : message;
}

/** Set for messages with a question. */
const version = 1;

const noop = (): void => undefined;
