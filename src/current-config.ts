import type { Config } from './config/config.js';
import type { Prepared } from './gateway-options.js';
import type { GatewaySlots } from './gateway-slots.js';
import { GatewayError, type Live, type Logger } from './plugin/index.js';
import { needsRestart } from './restart.js';
import type { Running } from './running.js';

export interface CurrentConfigOptions {
  readonly log: Logger;
  readonly live: Live;
  readonly slots: GatewaySlots;
  /** Aborted: no config is taken any more. */
  readonly closing: AbortSignal;
  /** Reads the config as it stands now and builds its pipeline. Throws ConfigError. */
  readonly runNext: () => Promise<Running>;
}

/** What runs by the config, and what takes its place: one change after the other, of the config and of the console's slots. */
export class CurrentConfig {
  readonly #options: CurrentConfigOptions;
  readonly #started: Config;
  #running: Running;
  #changing: Promise<void> = Promise.resolve();

  constructor(running: Running, options: CurrentConfigOptions) {
    this.#running = running;
    this.#started = running.config;
    this.#options = options;
    options.live.messages.receive(slotsTopic, () => void this.#takeSlotsOfOthers());
  }

  get running(): Running {
    return this.#running;
  }

  /** Builds what comes next; until it is taken, what runs goes on. Throws ConfigError, and `shutting_down`. */
  async prepare(): Promise<Prepared> {
    this.refuseIfClosing();
    const before = this.#changing;
    let done: () => void = noop;
    this.#changing = new Promise((resolve) => {
      done = resolve;
    });
    await before;
    try {
      const next = await this.#options.runNext();
      return {
        take: () => this.#take(next).finally(done),
        leave: () => next.pipeline.retire().finally(done),
      };
    } catch (error) {
      done();
      throw error;
    }
  }

  refuseIfClosing(): void {
    if (!this.#options.closing.aborted) return;
    throw new GatewayError('shutting_down', 'This gateway is shutting down; it takes no new config.');
  }

  /** A slot of the console has been entered, changed or removed: every instance takes those that there are now. */
  async slotsChanged(): Promise<void> {
    await this.#takeSlots();
    this.#options.live.messages.send(slotsTopic, null);
  }

  /** Resolves when no change is under way. */
  settled(): Promise<void> {
    return this.#changing;
  }

  async #take(next: Running): Promise<readonly string[]> {
    const { config, models, pipeline } = next;
    const { log, slots } = this.#options;
    try {
      await slots.take(config, { models });
    } catch (error) {
      await pipeline.retire();
      throw error;
    }
    const old = this.#running;
    this.#running = next;
    const changed = needsRestart(this.#started, config);
    if (changed.length > 0) log.warn({ changed }, 'These settings take effect at the next start.');
    log.info({ stages: config.pipeline.length, slots: config.slots.length }, 'The config was reloaded.');
    old.pipeline
      .retire()
      .catch((error: unknown) => log.error({ err: error }, 'A pipeline could not be disposed.'));
    return changed;
  }

  #takeSlots(): Promise<void> {
    const next = this.#changing.then(() => this.#options.slots.take(this.#running.config));
    this.#changing = next.catch(() => undefined);
    return next;
  }

  async #takeSlotsOfOthers(): Promise<void> {
    try {
      if (!this.#options.closing.aborted) await this.#takeSlots();
    } catch (error) {
      const message = 'The slots that another instance has changed could not be taken.';
      this.#options.log.error({ err: error }, message);
    }
  }
}

const slotsTopic = 'slots';

const noop = (): void => undefined;
