import { ConfigError, type Problem } from '../config/config.js';
import type { Logger } from '../plugin/index.js';
import type { Member } from './worker-handle.js';
import type { Reloaded } from './worker-init.js';

export interface CrewReloadOptions {
  readonly text: string;
  readonly readText: () => Promise<string>;
  readonly members: () => readonly Member[];
  readonly log: Logger;
}

/** Reloads of all workers, one after the other: all of them take a new config, or none. */
export class PoolReload {
  readonly #options: CrewReloadOptions;
  /** What the config file said when the config that runs was taken. */
  #text: string;
  #current: Promise<unknown> = Promise.resolve();

  constructor(options: CrewReloadOptions) {
    this.#options = options;
    this.#text = options.text;
  }

  /** What a new worker has to run. */
  async settledText(): Promise<string> {
    await this.#current;
    return this.#text;
  }

  /** Rejects where a worker cannot say what is wrong with it. */
  next(): Promise<Reloaded> {
    const next = this.#current.then(() => this.#reload());
    this.#current = next.catch(() => undefined);
    return next;
  }

  async #reload(): Promise<Reloaded> {
    const { readText, members } = this.#options;
    const text = await readText().catch(problemsIn);
    if (typeof text !== 'string') return { problems: text, needsRestart: [] };
    const begun = members().filter(({ hasBegun, isLeaving }) => hasBegun && !isLeaving);
    // One that has begun with the old config is to serve before it hears of a new one.
    await Promise.all(begun.map(({ listening }) => listening));
    const there = begun.filter(({ line }) => !line.isClosed);
    const outcomes = await Promise.all(there.map((member) => prepare(member, text)));
    const refused = outcomes.find((outcome) => outcome !== undefined);
    if (refused === undefined) return this.#take(there, text);
    await leaveAll(there);
    if (refused instanceof Error) throw refused;
    return { problems: refused, needsRestart: [] };
  }

  /** One goes first: where that cannot take it, none does. */
  async #take(members: readonly Member[], text: string): Promise<Reloaded> {
    const [first, ...rest] = members;
    const needsRestart = await take(first).catch(async (error: unknown) => {
      await leaveAll(rest);
      throw error;
    });
    this.#text = text;
    await Promise.all(
      rest.map((member) => take(member).catch((error: unknown) => this.#replace(member, error))),
    );
    return { problems: [], needsRestart };
  }

  /** Whoever cannot take what the first one has taken makes way for one that begins with it. */
  #replace(member: Member, error: unknown): void {
    const { pid, name } = member;
    this.#options.log.error(
      { err: error, worker: Number(name), pid },
      'A worker could not take the new config.',
    );
    member.kill();
  }
}

type Refusal = readonly Problem[] | Error;

/** Undefined: it is ready, or has gone, and its successor begins with what the others have. */
async function prepare(member: Member, text: string): Promise<Refusal | undefined> {
  const { line } = member;
  try {
    const problems = await line.ask<readonly Problem[]>('worker.prepare', text);
    return problems.length > 0 ? problems : undefined;
  } catch (error) {
    if (line.isClosed || member.isLeaving) return undefined;
    return error instanceof Error ? error : new Error(String(error));
  }
}

async function take(member: Member | undefined): Promise<readonly string[]> {
  try {
    return (await member?.line.ask<readonly string[]>('worker.take')) ?? [];
  } catch (error) {
    if (member?.line.isClosed) return [];
    throw error;
  }
}

async function leaveAll(members: readonly Member[]): Promise<void> {
  await Promise.all(members.map(({ line }) => line.ask('worker.leave').catch(() => undefined)));
}

function problemsIn(error: unknown): readonly Problem[] {
  if (error instanceof ConfigError) return error.problems;
  throw error;
}
