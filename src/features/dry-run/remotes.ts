import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Config } from '../../config/config.js';
import type { MemorySocket } from '../../engine/http/connection/memory-socket.js';
import { didYouMean } from '../../kit/schema/did-you-mean.js';

/** Reply of a remote stage's service: its fields but `version`; or `{ status }` alone, for another HTTP status. */
export type RemoteAnswer = Readonly<Record<string, unknown>>;

/** Questions that remote stages have asked, by the name of the stage. */
export type RemoteQuestions = Readonly<Record<string, readonly unknown[]>>;

/** Services in place of those that the remote stages of a config ask. */
export class DryRemotes {
  readonly #servers: ReadonlyMap<string, Server>;
  #asked: Record<string, unknown[]> = {};

  /**
   * `answers`: replies in order by the name of a stage, the last one again and again; default: all is allowed. Throws an
   * Error for the name of no remote stage.
   */
  constructor(config: Config, answers: Readonly<Record<string, readonly RemoteAnswer[]>> = {}) {
    const names = namesOf(config);
    for (const name of Object.keys(answers)) if (!names.includes(name)) throw unknown(name, names);
    this.#servers = new Map(names.map((name) => [name, this.#serve(name, answers[name] ?? [])]));
  }

  /** Accepts a connection of a stage; undefined: it is none that asks a service. */
  acceptor(stage: string): ((far: MemorySocket) => void) | undefined {
    const server = this.#servers.get(stage);
    return server && ((far) => void server.emit('connection', far));
  }

  /** Takes the questions so far. */
  take(): RemoteQuestions {
    const asked = this.#asked;
    this.#asked = {};
    return asked;
  }

  #serve(stage: string, answers: readonly RemoteAnswer[]): Server {
    let count = 0;
    const answerTo = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const question = await readJson(request);
      (this.#asked[stage] ??= []).push(question);
      const answer = answers[Math.min(count, answers.length - 1)];
      count += 1;
      reply(response, answer ?? allowOf(question));
    };
    return createServer((request, response) => void answerTo(request, response));
  }
}

/** Names of the stages that ask a service, those of named pipelines with the name of theirs. */
function namesOf({ pipeline, pipelines }: Config): readonly string[] {
  const lists = [pipeline, ...pipelines.map(({ stages }) => stages)];
  const remote = lists.flat().filter(({ use }) => use === 'remote');
  const names = remote.map(({ name = 'remote', pipeline: owner }) =>
    owner === undefined ? name : `${owner}/${name}`,
  );
  return [...new Set(names)];
}

function unknown(name: string, names: readonly string[]): Error {
  const meant = didYouMean(name, names);
  const cure = meant === undefined ? `there are ${names.join(', ') || 'none'}` : `did you mean "${meant}"?`;
  return new Error(`unknown remote stage "${name}"; ${cure}`);
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer); // of a request
  return JSON.parse(Buffer.concat(pieces).toString()) as unknown;
}

/** A guard of LiteLLM has replies of its own. */
function allowOf(question: unknown): RemoteAnswer {
  const isOwn = typeof question === 'object' && question !== null && 'version' in question;
  return isOwn ? { verdict: 'allow' } : { action: 'NONE' };
}

function reply(response: ServerResponse, answer: RemoteAnswer): void {
  const { status, ...fields } = answer;
  if (typeof status === 'number' && Object.keys(fields).length === 0) response.writeHead(status).end();
  else {
    const version = 'action' in answer ? {} : { version: 1 };
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ ...version, ...answer }));
  }
}
