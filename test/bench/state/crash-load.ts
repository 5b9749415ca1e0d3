import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import type { FormatName } from '../../support/formats.js';
import { textsIn } from '../load/answers.js';
import { paths } from '../load/bodies.js';
import { exchange } from '../load/exchange.js';
import { seeded, type Random } from '../../support/seeded.js';
import { Panel } from './panel.js';

/** Answers that callers got during one life of a gateway. Times by `performance.now()`. */
export interface Seen {
  /** When the last byte of each whole answer was there, by request id. */
  readonly answeredAtMs: ReadonlyMap<string, number>;
  /** Requests that got none. */
  readonly cut: number;
  /** The keys that were issued. */
  readonly keys: readonly string[];
}

/** Callers that ask as fast as they are answered, each request with an id of its own, and issue keys now and then. */
export class CrashLoad {
  readonly #origin: string;
  readonly #name: string;
  readonly #keys: string[];
  readonly #issued: string[] = [];
  readonly #answeredAtMs = new Map<string, number>();
  readonly #agent = new Agent({ connections: 64, connect: { timeout: 2000 } });
  readonly #random: Random;
  readonly #lanes: Promise<unknown>;
  #warm: () => void = () => undefined;
  /** Resolves with the first answer. */
  readonly isWarm = new Promise<void>((resolve) => (this.#warm = resolve));
  #sent = 0;
  #isOver = false;

  /** `keys` are those that there are already; `name` begins all ids. */
  constructor(origin: string, name: string, lanes: number, keys: readonly string[]) {
    this.#origin = origin;
    this.#name = name;
    this.#keys = [...keys];
    this.#random = seeded(name.length + lanes + keys.length);
    const all = Array.from({ length: lanes }, () => this.#ask());
    this.#lanes = Promise.all([...all, this.#issue()]);
  }

  /** Once the gateway is gone. */
  async end(): Promise<Seen> {
    this.#isOver = true;
    await this.#lanes;
    await this.#agent.destroy();
    const cut = this.#sent - this.#answeredAtMs.size;
    return { answeredAtMs: this.#answeredAtMs, cut, keys: this.#issued };
  }

  async #ask(): Promise<void> {
    while (!this.#isOver) {
      const id = `${this.#name}-${(this.#sent += 1)}`;
      const format = this.#pick(formats);
      const isStream = this.#random() < 0.7;
      const request = { id, format, isStream, key: this.#pick(this.#keys) };
      const isAnswered = await ask(this.#agent, this.#origin, request).catch(() => false);
      if (isAnswered) {
        this.#answeredAtMs.set(id, performance.now());
        this.#warm();
      } else await sleep(20); // it is on its way out
    }
  }

  async #issue(): Promise<void> {
    const panel = new Panel(this.#origin);
    for (let nth = 0; !this.#isOver; nth += 1) {
      const key = await panel.issueKey(`${this.#name}-${nth}`).catch(() => undefined);
      if (key !== undefined) {
        this.#keys.push(key);
        this.#issued.push(key);
      }
      await sleep(200);
    }
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.#random() * items.length)] as Item; // there are some
  }
}

const formats: readonly FormatName[] = ['messages', 'chat', 'responses', 'completions'];

interface Request {
  readonly id: string;
  readonly format: FormatName;
  readonly isStream: boolean;
  readonly key: string;
}

/** Sends one request; true if the answer was whole. */
export async function ask(
  agent: Agent,
  origin: string,
  { id, format, isStream, key }: Request,
): Promise<boolean> {
  const prompt = `Say something to ${id}.`;
  const messages = [{ role: 'user', content: prompt }];
  const said = { messages: { messages, max_tokens: 1000 }, chat: { messages }, completions: { prompt } };
  const body = { model: 'sonnet-5', stream: isStream, ...{ ...said, responses: { input: prompt } }[format] };
  const { status, chunks } = await exchange(agent, {
    origin,
    method: 'POST',
    path: paths[format],
    headers: { 'content-type': 'application/json', 'x-api-key': key, 'x-request-id': id },
    body: JSON.stringify(body),
  });
  return status === 200 && textsIn(format, isStream, Buffer.concat(chunks).toString()).length > 0;
}
