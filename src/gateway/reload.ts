import type { Config } from '../config/config.js';
import {
  countChanges,
  diffConfigs,
  needsRestart,
  type ConfigDiff,
  type LoadedConfig,
} from '../config-diff/index.js';
import type { Prepared, Taken } from './options.js';
import type { SlotSources } from './slot-sources.js';
import { untilAborted, GatewayError, type Live, type Logger } from '../plugin/internal.js';
import type { Runtime } from './runtime.js';

interface CurrentConfigOptions {
  readonly log: Logger;
  readonly live: Live;
  readonly slots: SlotSources;
  /** Aborted once no config may be taken any more. */
  readonly closing: AbortSignal;
  /** Loads the config of a reload and builds and starts its pipeline. Throws ConfigError. */
  readonly buildNext: () => Promise<Runtime>;
  /** Reads the config as it stands now and builds its pipeline, without starting it. Throws ConfigError. */
  readonly buildPreview: () => Promise<Runtime>;
  /** The config in force with its plugins. */
  readonly loadedNow: (runtime: Runtime) => LoadedConfig;
  /** The config of a runtime that is not in force yet with its plugins. */
  readonly loadedNext: (runtime: Runtime) => Promise<LoadedConfig>;
}

/**
 * The runtime in force and its replacement. Changes of the config and of the console's slots run one at a
 * time.
 */
export class CurrentConfig {
  readonly #options: CurrentConfigOptions;
  readonly #started: Config;
  #runtime: Runtime;
  /** Queue of reloads; each one builds its pipeline first, which takes time. */
  #reloading: Promise<void> = Promise.resolve();
  /** Queue of changes to the runtime, which do not wait for a build. */
  #taking: Promise<unknown> = Promise.resolve();

  constructor(runtime: Runtime, options: CurrentConfigOptions) {
    this.#runtime = runtime;
    this.#started = runtime.config;
    this.#options = options;
    options.live.messages.receive(slotsTopic, () => void this.#takeSlotsOfOthers());
  }

  get runtime(): Runtime {
    return this.#runtime;
  }

  /**
   * Builds the next runtime; the current one stays in force until it is taken. Throws ConfigError, and
   * `shutting_down`.
   */
  prepare(): Promise<Prepared> {
    const { buildNext } = this.#options;
    return this.#build(buildNext, async (next, done) => {
      const changes = await this.#changes(next);
      return {
        take: () => this.#inTurn(() => this.#take(next, changes)).finally(done),
        leave: () => leave(next).finally(done),
      };
    });
  }

  /**
   * Says what a reload would change now. Sets the stages of the new config up, for their problems, and disposes
   * them. Throws as `prepare`.
   */
  preview(): Promise<ConfigDiff> {
    const { buildPreview } = this.#options;
    return this.#build(buildPreview, async (next, done) => {
      const changes = await this.#changes(next);
      await leave(next);
      done();
      return changes;
    });
  }

  refuseIfClosing(): void {
    if (!this.#options.closing.aborted) return;
    throw new GatewayError('shutting_down', 'This gateway is shutting down; it takes no new config.');
  }

  /**
   * Builds a runtime when those before it are taken or left; the next one waits until `done` is called. Leaves it
   * where `use` fails.
   */
  async #build<Used>(
    build: () => Promise<Runtime>,
    use: (next: Runtime, done: () => void) => Promise<Used>,
  ): Promise<Used> {
    this.refuseIfClosing();
    const before = this.#reloading;
    let done: () => void = noop;
    this.#reloading = new Promise((resolve) => {
      done = resolve;
    });
    try {
      await untilAborted(before, this.#options.closing);
      const next = await this.#untilClosing(build());
      return await orLeave(next, use(next, done));
    } catch (error) {
      done();
      this.refuseIfClosing();
      throw error;
    }
  }

  /** Waits for a build, but not for a plugin that hangs once the gateway closes. */
  async #untilClosing(building: Promise<Runtime>): Promise<Runtime> {
    const { closing } = this.#options;
    try {
      return await untilAborted(building, closing);
    } catch (error) {
      if (closing.aborted) building.then(leave, noop); // the refused config may be invalid
      throw error;
    }
  }

  async #changes(next: Runtime): Promise<ConfigDiff> {
    const { loadedNow, loadedNext } = this.#options;
    const after = await loadedNext(next);
    return diffConfigs(loadedNow(this.#runtime), after);
  }

  /** Reloads the console slots on every instance, after one was added, changed or removed. */
  async slotsChanged(): Promise<void> {
    await this.#takeSlots();
    this.#options.live.messages.send(slotsTopic, null);
  }

  /** Resolves when no change of the runtime is in progress. */
  async settled(): Promise<void> {
    await this.#taking;
  }

  async #take(next: Runtime, changes: ConfigDiff): Promise<Taken> {
    const { config, models, pipeline } = next;
    const { log, slots, closing } = this.#options;
    if (closing.aborted) await pipeline.retire();
    this.refuseIfClosing();
    try {
      await slots.take(config, models);
    } catch (error) {
      await pipeline.retire();
      throw error;
    }
    const old = this.#runtime;
    this.#runtime = next;
    const changed = needsRestart(this.#started, config);
    if (changed.length > 0) log.warn({ changed }, 'These settings take effect at the next start.');
    const counts = { stages: config.pipeline.length, slots: config.slots.length };
    log.info({ ...counts, changes: countChanges(changes) }, 'The config was reloaded.');
    old.pipeline
      .retire()
      .catch((error: unknown) => log.error({ err: error }, 'A pipeline could not be disposed.'));
    return { needsRestart: changed, changes };
  }

  #takeSlots(): Promise<void> {
    return this.#inTurn(() => this.#options.slots.take(this.#runtime.config));
  }

  #inTurn<Result>(change: () => Promise<Result>): Promise<Result> {
    const next = this.#taking.then(change);
    this.#taking = next.catch(noop);
    return next;
  }

  async #takeSlotsOfOthers(): Promise<void> {
    try {
      if (!this.#options.closing.aborted) await this.#takeSlots();
    } catch (error) {
      const message = 'The slots that another instance has changed could not be loaded.';
      this.#options.log.error({ err: error }, message);
    }
  }
}

const slotsTopic = 'slots';

/** Waits for `work`; leaves the runtime where that fails. */
async function orLeave<Result>(next: Runtime, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    await leave(next);
    throw error;
  }
}

async function leave({ pipeline }: Runtime): Promise<void> {
  await pipeline.retire();
}

const noop = (): void => undefined;
