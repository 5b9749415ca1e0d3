import { randomBytes } from 'node:crypto';
import type { Agent } from 'node:http';
import { asError } from '../../kit/time/within.js';
import {
  checkedReply,
  signedHeaders,
  type RemotePhase,
  type RemoteQuestion,
  type RemoteReplies,
} from '../../plugin/remote/index.js';
import { CheckFailure } from './check-failure.js';
import { connections, post, type HttpReply, type Post } from './http-post.js';
import { requestQuestion } from './questions.js';

export interface RemoteTarget {
  readonly url: URL;
  /** Key of the secret; undefined: messages are not signed. */
  readonly key: Buffer | undefined;
}

/** Message with parts in place of those that a correct one has. */
export interface Message {
  readonly body: string | Buffer;
  readonly id?: string;
  /** Unix milliseconds. */
  readonly atMs?: number;
  /** Key of its signature. */
  readonly key?: Buffer;
  /** Added to the headers of the signature, or in place of them. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly agent?: Agent;
}

type Question<Phase extends RemotePhase> = Extract<RemoteQuestion, { readonly phase: Phase }>;

/** Server under one check, with connections of its own. */
export class RemoteServer {
  readonly target: RemoteTarget;
  readonly signal: AbortSignal;
  readonly #agents: Agent[] = [];
  readonly #agent: Agent;

  constructor(target: RemoteTarget, signal: AbortSignal) {
    this.target = target;
    this.signal = signal;
    this.#agent = this.connections(8);
  }

  /** Connections apart from the others, at most so many. */
  connections(count: number): Agent {
    const agent = connections(this.target.url, count);
    this.#agents.push(agent);
    return agent;
  }

  /** Asks a question. Throws a CheckFailure unless the reply is 200 and conforms to the schema. */
  async ask<Phase extends RemotePhase>(
    question: Question<Phase>,
    agent?: Agent,
  ): Promise<RemoteReplies[Phase]> {
    const id = idOf(question);
    const reply = await this.send({ body: JSON.stringify(question), id, ...(agent && { agent }) });
    return conforming(question.phase, reply) as RemoteReplies[Phase]; // of this phase
  }

  /** Sends a message that a correct server refuses. Throws a CheckFailure if it does not, or does not serve afterwards. */
  async refuses(message: Message): Promise<void> {
    const { status } = await this.send(message);
    if (status >= 200 && status < 300) throw new CheckFailure(`it answered ${status}`);
    await this.serves('after that');
  }

  /** Asks a plain question. Throws a CheckFailure that says when the server does not serve. */
  async serves(when: string): Promise<void> {
    await this.ask(requestQuestion(), this.connections(1)).catch((error: unknown) => {
      throw new CheckFailure(`${when} a plain question got no valid reply: ${asError(error).message}`);
    });
  }

  /** Sends a message, signed if there is a secret. */
  async send(message: Message): Promise<HttpReply> {
    const signal = AbortSignal.any([this.signal, AbortSignal.timeout(callMs)]);
    try {
      return await post(this.messageOf(message, signal));
    } catch (error) {
      if (this.signal.aborted) throw this.signal.reason;
      const { message: fault } = asError(error);
      throw new CheckFailure(signal.aborted ? `no reply within ${callMs / 1000} s` : fault, { cause: error });
    }
  }

  /** Parts of a message for `post`. */
  messageOf(
    { body, id = uniqueId(), atMs = Date.now(), key, headers, agent }: Message,
    signal: AbortSignal,
  ): Post {
    const bytes = Buffer.from(body);
    const used = key ?? this.target.key;
    const signed = signedHeaders({ id, atMs, body: bytes }, used ? [used] : []);
    const { url } = this.target;
    return { url, agent: agent ?? this.#agent, headers: { ...signed, ...headers }, body: bytes, signal };
  }

  close(): void {
    for (const agent of this.#agents) agent.destroy();
  }
}

/** Time for one reply. */
const callMs = 10_000;

export function uniqueId(): string {
  return `test_${randomBytes(12).toString('hex')}`;
}

/** `webhook-id` of a question: unique, and the same when it is sent again. */
function idOf(question: RemoteQuestion): string {
  return `${question.id}.${question.phase}.${question.phase === 'events' ? question.seq : 0}`;
}

function conforming(phase: RemotePhase, { status, text }: HttpReply): RemoteReplies[RemotePhase] {
  if (status !== 200) throw new CheckFailure(`it answered ${status}${excerpt(text)}`);
  try {
    return checkedReply(phase, JSON.parse(text));
  } catch (error) {
    throw new CheckFailure(`its reply is not valid: ${asError(error).message}${excerpt(text)}`, {
      cause: error,
    });
  }
}

/** Start of a reply on one line. */
function excerpt(text: string): string {
  const line = text.replaceAll(/\p{C}+|\s+/gu, ' ').trim();
  return line === '' ? '' : `: ${line.length > 200 ? `${line.slice(0, 200)}…` : line}`;
}
