import type { Config } from '../config/config.js';
import type { Prepared } from './options.js';
import type { SlotSources } from './slot-sources.js';
import { untilAborted, GatewayError, type Live, type Logger } from '../plugin/internal.js';
import type { Runtime } from './runtime.js';

interface CurrentConfigOptions {
  readonly log: Logger;
  readonly live: Live;
  readonly slots: SlotSources;
  /** Aborted once no config may be taken any more. */
  readonly closing: AbortSignal;
  /** Reads the config as it stands now and builds its pipeline. Throws ConfigError. */
  readonly buildNext: () => Promise<Runtime>;
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
  async prepare(): Promise<Prepared> {
    this.refuseIfClosing();
    const before = this.#reloading;
    let done: () => void = noop;
    this.#reloading = new Promise((resolve) => {
      done = resolve;
    });
    try {
      await untilAborted(before, this.#options.closing);
      const next = await this.#build();
      return {
        take: () => this.#inTurn(() => this.#take(next)).finally(done),
        leave: () => leave(next).finally(done),
      };
    } catch (error) {
      done();
      this.refuseIfClosing();
      throw error;
    }
  }

  refuseIfClosing(): void {
    if (!this.#options.closing.aborted) return;
    throw new GatewayError('shutting_down', 'This gateway is shutting down; it takes no new config.');
  }

  /** Builds the next runtime, without waiting for a plugin that hangs once the gateway closes. */
  async #build(): Promise<Runtime> {
    const { closing, buildNext } = this.#options;
    const building = buildNext();
    try {
      return await untilAborted(building, closing);
    } catch (error) {
      if (closing.aborted) building.then(leave, noop); // the refused config may be invalid
      throw error;
    }
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

  async #take(next: Runtime): Promise<readonly string[]> {
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
    log.info({ stages: config.pipeline.length, slots: config.slots.length }, 'The config was reloaded.');
    old.pipeline
      .retire()
      .catch((error: unknown) => log.error({ err: error }, 'A pipeline could not be disposed.'));
    return changed;
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

async function leave({ pipeline }: Runtime): Promise<void> {
  await pipeline.retire();
}

const noop = (): void => undefined;

/** Names of changed settings that take effect only at a restart. */
export function needsRestart(started: Config, now: Config): readonly string[] {
  const before = readAtStart(started);
  return Object.entries(readAtStart(now)).flatMap(
    ([key, text]) => (text === before[key as keyof typeof before] ? [] : [key]), // both have the same keys
  );
}

function readAtStart({ listen, store, ledger, live }: Config) {
  const { host, port, workers, trustProxy, headersTimeoutMs, bodyIdleTimeoutMs, maxConnections, backlog } =
    listen;
  const atStart = [
    host,
    port,
    workers,
    trustProxy,
    headersTimeoutMs,
    bodyIdleTimeoutMs,
    maxConnections,
    backlog,
  ];
  const text = { listen: JSON.stringify(atStart), store: JSON.stringify(store) };
  return { ...text, ledger: JSON.stringify(ledger), live: JSON.stringify(live) };
}
