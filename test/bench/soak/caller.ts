import type { FormatName } from '../../support/formats.js';
import { Agent, type Dispatcher } from 'undici';
import { textsIn } from '../load/answers.js';
import { paths } from '../load/bodies.js';
import { exchange, type Answer, type Manners } from '../load/exchange.js';
import { masterKey } from '../targets/issued-keys.js';

/** Request of a caller: a prompt, in one of the formats. */
export interface Question extends Manners {
  readonly format: FormatName;
  readonly isStream: boolean;
  /** Text of the request, which names the scenario of the simulator. */
  readonly prompt: string;
  /** Default: the master key. */
  readonly key?: string;
  readonly session?: string;
}

/** Asks and checks; a check that fails throws an Error that says what came instead. */
export class Caller {
  readonly #origin: string;
  readonly #agent = new Agent({ connections: 64, headersTimeout: 60_000, bodyTimeout: 60_000 });

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** Asks and wants this text, whole. */
  async wants(text: string, question: Question): Promise<void> {
    const { status, body } = await this.ask(question);
    if (status !== 200) throw new Error(`status ${status}: ${body.slice(0, 300)}`);
    const said = textsIn(question.format, question.isStream, body).join('');
    if (said !== text) throw new Error(`another text: ${said.slice(0, 300)}`);
  }

  /** Asks and wants to be told of an error, in the form that every error has, and of no success. */
  async wantsError(question: Question): Promise<void> {
    const { status, body } = await this.ask(question);
    if (status >= 400) return checkError(status, body);
    if (!body.includes('"error"')) throw new Error(`no error in ${body.slice(-300)}`);
    if (isComplete(question, body)) throw new Error(`an error and a success in ${body.slice(-300)}`);
  }

  /** Sends what it is told; any method and path. */
  async send(method: Dispatcher.HttpMethod, path: string, body?: object, key = masterKey): Promise<Said> {
    const headers = { 'content-type': 'application/json', 'x-api-key': key };
    const text = body === undefined ? null : JSON.stringify(body);
    return said(await exchange(this.#agent, { origin: this.#origin, method, path, headers, body: text }));
  }

  async ask({ format, isStream, prompt, key = masterKey, session, ...manners }: Question): Promise<Said> {
    const headers = {
      'content-type': 'application/json',
      'x-api-key': key,
      ...(session !== undefined && { 'x-session-id': session }),
    };
    const body = JSON.stringify(bodyOf(format, isStream, prompt));
    const request = { origin: this.#origin, method: 'POST', path: paths[format], headers, body } as const;
    return said(await exchange(this.#agent, request, manners));
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

export interface Said {
  readonly status: number;
  readonly body: string;
}

function said({ status, chunks }: Answer): Said {
  return { status, body: Buffer.concat(chunks).toString() };
}

function bodyOf(format: FormatName, isStream: boolean, prompt: string): object {
  const asked = { model: 'sonnet-5', stream: isStream };
  const messages = [{ role: 'user', content: prompt }];
  const bodies = {
    messages: { ...asked, max_tokens: 100_000, messages },
    chat: { ...asked, messages },
    responses: { ...asked, input: prompt, store: false },
    completions: { ...asked, prompt },
  };
  return bodies[format];
}

/** Throws where this is not the one form of an error. */
export function checkError(status: number, body: string): void {
  const { error } = JSON.parse(body) as { error?: Readonly<Record<string, unknown>> }; // looked at below
  const isWhole = ['type', 'code', 'message'].every((field) => typeof error?.[field] === 'string');
  if (!isWhole) throw new Error(`status ${status} and no error object: ${body.slice(0, 300)}`);
}

function isComplete({ format, isStream }: Question, body: string): boolean {
  try {
    textsIn(format, isStream, body);
    return true;
  } catch {
    return false; // which is what is asked
  }
}
