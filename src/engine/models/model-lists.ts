import { limited } from '../../kit/time/clock.js';
import type { Clock, Logger } from '../../plugin/index.js';
import type { ListedModel } from '../../plugin/upstream/index.js';
import type { KnownModels } from './known-models.js';

/** A slot that can list its models. */
export interface ModelSource {
  readonly id: string;
  listModels(signal: AbortSignal): Promise<readonly ListedModel[]>;
}

interface ModelListsOptions {
  readonly known: KnownModels;
  /** The current slots that may be asked for any model. */
  readonly sources: () => readonly ModelSource[];
  readonly log: Logger;
  readonly clock: Clock;
}

/**
 * Cache of the slots' model lists: fetched in the background when a model is missing from the catalog, and
 * again after an hour. Nothing waits for it; failures are retried later.
 */
export class ModelLists {
  readonly #options: ModelListsOptions;
  readonly #lists = new Map<ModelSource, List>();
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;
  /** Time before which no list is due. */
  #nextReadMs = -Infinity;

  constructor(options: ModelListsOptions) {
    this.#options = options;
    options.known.onUnknown(() => this.refresh());
  }

  /** Refreshes the stale lists in the background. */
  refresh(): void {
    if (this.#running || this.#closing.signal.aborted || this.#options.clock.now() < this.#nextReadMs) return;
    this.#running = this.#refresh().finally(() => {
      this.#running = undefined;
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #refresh(): Promise<void> {
    const { log, clock } = this.#options;
    try {
      await this.#askDue();
    } catch (error) {
      log.debug({ err: error }, 'The models of the slots could not be listed.');
    }
    this.#nextReadMs = clock.now() + minIntervalMs;
  }

  async #askDue(): Promise<void> {
    const { sources, clock } = this.#options;
    const current = sources();
    for (const source of this.#lists.keys()) if (!current.includes(source)) this.#lists.delete(source);
    const due = current.filter((source) => clock.now() >= (this.#lists.get(source)?.dueMs ?? -Infinity));
    const waiting = due.values();
    await Promise.all(Array.from({ length: maxParallel }, () => this.#askEach(waiting)));
  }

  async #askEach(waiting: Iterator<ModelSource>): Promise<void> {
    for (let next = waiting.next(); !next.done; next = waiting.next()) {
      if (this.#closing.signal.aborted) return;
      await this.#ask(next.value);
    }
  }

  async #ask(source: ModelSource): Promise<void> {
    const { log, clock } = this.#options;
    const before = this.#lists.get(source)?.models ?? [];
    try {
      const limit = { until: this.#closing.signal, ms: timeoutMs };
      const models = await limited(clock, limit, (signal) => source.listModels(signal));
      this.#lists.set(source, { models, dueMs: clock.now() + listTtlMs });
      this.#publish();
    } catch (error) {
      log.debug({ err: error, slot: source.id }, 'The models of a slot could not be listed.');
      this.#lists.set(source, { models: before, dueMs: clock.now() + retryMs });
      this.#publish();
    }
  }

  /** Makes the lists known. Throws if a slot has listed anything but models. */
  #publish(): void {
    this.#options.known.takeLists([...this.#lists.values()].map(({ models }) => models));
  }
}

interface List {
  readonly models: readonly ListedModel[];
  /** Expiry of the list, in Unix milliseconds. */
  readonly dueMs: number;
}

const maxParallel = 4;
const timeoutMs = 10_000;
const listTtlMs = 3_600_000;
const retryMs = 300_000;
/** Min time between two checks for lists that are due. */
const minIntervalMs = 10_000;
