import { ConfigError, type ConfigProblem } from '../../config/config.js';
import { noChanges, type ConfigDiff } from '../../config/diff/config-diff.js';
import type { ReloadResult } from '../../gateway/options.js';
import { GatewayError, type Logger } from '../../plugin/index.js';
import { SerialQueue } from '../../kit/serial-queue.js';
import type { WorkerHandle } from './worker-handle.js';
import type { PoolCanary, Reloaded, WorkerInit } from './worker-init.js';
import { firstToAnswer, leaveAll, prepare, unlessGone } from './worker-requests.js';

interface PoolReloadOptions {
  readonly text: string;
  readonly readText: () => Promise<string>;
  readonly workers: () => readonly WorkerHandle[];
  readonly log: Logger;
}

/** Message by which a worker switches to a prepared config. */
type Switch = 'worker.take' | 'worker.commit';

/** Reloads all workers, one reload at a time: all workers take the new config, or none. */
export class PoolReload {
  readonly #options: PoolReloadOptions;
  /** Config file text of the config in force. */
  #text: string;
  #canary: PoolCanary | undefined;
  #lastCanaryId = 0;
  /** Last canary that workers have rolled back. */
  #givenUpId = 0;
  readonly #turns = new SerialQueue();

  constructor(options: PoolReloadOptions) {
    this.#options = options;
    this.#text = options.text;
  }

  /** Configs for a new worker, once no reload is in progress. */
  async settled(): Promise<Pick<WorkerInit, 'text' | 'canary'>> {
    await this.#turns.settled();
    return { text: this.#text, canary: this.#runningCanary };
  }

  /** Reloads after any reload in progress. Rejects on a failure other than problems of the config. */
  next(): Promise<Reloaded> {
    return this.#turns.run(() =>
      this.#prepareAll((workers, text) => this.#take(workers, text, 'worker.take')),
    );
  }

  /** Starts a canary in all workers, or in none. Rejects as `next`, and with `conflict`. */
  startCanary(percent: number): Promise<Reloaded> {
    return this.#turns.run(() => {
      const id = ++this.#lastCanaryId;
      return this.#prepareAll((workers, text) => this.#hold(workers, { id, text, percent }));
    });
  }

  /** Applies the canary's config in all workers. Rejects with `conflict` if there is none. */
  commitCanary(): Promise<Reloaded> {
    return this.#turns.run(async () => {
      const { text } = this.#requiredCanary(); // which goes on where the first worker cannot take its config
      return this.#take(await this.#serving(), text, 'worker.commit');
    });
  }

  /** Ends the canary in all workers. Rejects with `conflict` if there is none. */
  cancelCanary(): Promise<void> {
    return this.#turns.run(async () => {
      this.#requiredCanary();
      this.#canary = undefined;
      const workers = await this.#serving();
      await Promise.all(workers.map((worker) => unlessGone(worker, 'worker.cancel')));
    });
  }

  /** Forgets a canary that a worker has rolled back, as the others do, so that no new worker joins it. */
  canaryGivenUp(id: number): void {
    this.#givenUpId = Math.max(this.#givenUpId, id);
  }

  get #runningCanary(): PoolCanary | undefined {
    return this.#canary && this.#canary.id > this.#givenUpId ? this.#canary : undefined;
  }

  async #prepareAll(
    use: (workers: readonly WorkerHandle[], text: string) => Promise<Reloaded>,
  ): Promise<Reloaded> {
    const text = await this.#options.readText().catch(problemsIn);
    if (typeof text !== 'string') return refused(text);
    const workers = await this.#serving();
    const outcomes = await Promise.all(workers.map((worker) => prepare(worker, text)));
    const refusal = outcomes.find((outcome) => outcome !== undefined);
    if (refusal === undefined) return use(workers, text);
    await leaveAll(workers);
    if (refusal instanceof Error) throw refusal;
    return refused(refusal);
  }

  /** Workers that serve. One that started with the old config must be serving before it is asked to reload. */
  async #serving(): Promise<readonly WorkerHandle[]> {
    const started = this.#options.workers().filter(({ hasBegun, isLeaving }) => hasBegun && !isLeaving);
    await Promise.all(started.map(({ listening }) => listening));
    return started.filter(({ channel }) => !channel.isClosed);
  }

  /** Switches one worker first: if that one fails, all keep the old config. */
  async #take(workers: readonly WorkerHandle[], text: string, topic: Switch): Promise<Reloaded> {
    const first = await firstToAnswer(workers, (worker) =>
      unlessGone<ReloadResult>(worker, topic, text),
    ).catch(async (error: unknown) => {
      if (topic === 'worker.take') await leaveAll(workers);
      throw error;
    });
    this.#text = text;
    this.#canary = undefined;
    await this.#askRest(first.rest, topic, text);
    return { problems: [], ...(first.answer ?? nothing) };
  }

  /** Starts the canary in one worker first, which may refuse it. */
  async #hold(workers: readonly WorkerHandle[], canary: PoolCanary): Promise<Reloaded> {
    const topic = 'worker.hold';
    const first = await firstToAnswer(workers, (worker) =>
      unlessGone<ConfigDiff>(worker, topic, canary),
    ).catch(async (error: unknown) => {
      await leaveAll(workers);
      throw error;
    });
    this.#canary = canary;
    await this.#askRest(first.rest, topic, canary);
    return { problems: [], needsRestart: [], changes: first.answer ?? noChanges };
  }

  /** Asks the workers after the first one; those that fail are replaced. */
  async #askRest(workers: readonly WorkerHandle[], topic: string, value: unknown): Promise<void> {
    const asked = workers.map((worker) =>
      unlessGone(worker, topic, value).catch((error: unknown) => this.#replace(worker, error)),
    );
    await Promise.all(asked);
  }

  #requiredCanary(): PoolCanary {
    const canary = this.#runningCanary;
    if (!canary)
      throw new GatewayError('conflict', 'No canary is running; POST /admin/reload?canary=5 starts one.');
    return canary;
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

/** Result for a worker that has exited without an answer. */
const nothing: ReloadResult = { needsRestart: [], changes: noChanges };

function refused(problems: readonly ConfigProblem[]): Reloaded {
  return { problems, ...nothing };
}

function problemsIn(error: unknown): readonly ConfigProblem[] {
  if (error instanceof ConfigError) return error.problems;
  throw error;
}
