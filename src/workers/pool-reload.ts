import { ConfigError, type ConfigProblem } from '../config/config.js';
import { noChanges } from '../config-diff/index.js';
import type { Taken } from '../gateway/options.js';
import type { Logger } from '../plugin/internal.js';
import type { WorkerHandle } from './worker-handle.js';
import type { Reloaded } from './worker-init.js';

interface PoolReloadOptions {
  readonly text: string;
  readonly readText: () => Promise<string>;
  readonly workers: () => readonly WorkerHandle[];
  readonly log: Logger;
}

/** Reloads all workers, one reload at a time: all workers take the new config, or none. */
export class PoolReload {
  readonly #options: PoolReloadOptions;
  /** Config file text of the config in force. */
  #text: string;
  #current: Promise<unknown> = Promise.resolve();

  constructor(options: PoolReloadOptions) {
    this.#options = options;
    this.#text = options.text;
  }

  /** Config text for a new worker, once no reload is in progress. */
  async settledText(): Promise<string> {
    await this.#current;
    return this.#text;
  }

  /** Reloads after any reload in progress. Rejects on a failure other than problems of the config. */
  next(): Promise<Reloaded> {
    const next = this.#current.then(() => this.#reload());
    this.#current = next.catch(() => undefined);
    return next;
  }

  async #reload(): Promise<Reloaded> {
    const { readText, workers } = this.#options;
    const text = await readText().catch(problemsIn);
    if (typeof text !== 'string') return refused(text);
    const started = workers().filter(({ hasBegun, isLeaving }) => hasBegun && !isLeaving);
    // A worker that started with the old config must be serving before it is asked to reload.
    await Promise.all(started.map(({ listening }) => listening));
    const there = started.filter(({ channel }) => !channel.isClosed);
    const outcomes = await Promise.all(there.map((worker) => prepare(worker, text)));
    const refusal = outcomes.find((outcome) => outcome !== undefined);
    if (refusal === undefined) return this.#take(there, text);
    await leaveAll(there);
    if (refusal instanceof Error) throw refusal;
    return refused(refusal);
  }

  /** Switches one worker first: if that one fails, all keep the old config. */
  async #take(workers: readonly WorkerHandle[], text: string): Promise<Reloaded> {
    const [first, ...rest] = workers;
    const taken = await take(first).catch(async (error: unknown) => {
      await leaveAll(rest);
      throw error;
    });
    this.#text = text;
    await Promise.all(
      rest.map((worker) => take(worker).catch((error: unknown) => this.#replace(worker, error))),
    );
    return { problems: [], ...taken };
  }

  /** Kills a worker that could not take the new config; its replacement starts with that config. */
  #replace(worker: WorkerHandle, error: unknown): void {
    const { pid, name } = worker;
    this.#options.log.error(
      { err: error, worker: Number(name), pid },
      'A worker could not take the new config.',
    );
    worker.kill();
  }
}

/** Result for a worker that has exited and can say nothing. */
const nothing: Taken = { needsRestart: [], changes: noChanges };

function refused(problems: readonly ConfigProblem[]): Reloaded {
  return { problems, ...nothing };
}

type Refusal = readonly ConfigProblem[] | Error;

/**
 * Asks a worker to prepare a config; undefined if it is ready. Also undefined if it has exited or is
 * leaving, because its replacement starts with the config of the others.
 */
async function prepare(worker: WorkerHandle, text: string): Promise<Refusal | undefined> {
  const { channel } = worker;
  try {
    const problems = await channel.ask<readonly ConfigProblem[]>('worker.prepare', text);
    return problems.length > 0 ? problems : undefined;
  } catch (error) {
    if (channel.isClosed || worker.isLeaving) return undefined;
    return error instanceof Error ? error : new Error(String(error));
  }
}

async function take(worker: WorkerHandle | undefined): Promise<Taken> {
  try {
    return (await worker?.channel.ask<Taken>('worker.take')) ?? nothing;
  } catch (error) {
    if (worker?.channel.isClosed) return nothing;
    throw error;
  }
}

async function leaveAll(workers: readonly WorkerHandle[]): Promise<void> {
  await Promise.all(workers.map(({ channel }) => channel.ask('worker.leave').catch(() => undefined)));
}

function problemsIn(error: unknown): readonly ConfigProblem[] {
  if (error instanceof ConfigError) return error.problems;
  throw error;
}
