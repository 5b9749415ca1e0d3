import type { Config } from '../../config/config.js';
import { countChanges, type ConfigDiff } from '../../config/diff/config-diff.js';
import { diffConfigs } from '../../config/diff/diff-configs.js';
import { needsRestart } from '../../config/diff/settings.js';
import type { LoadedConfig } from '../../config/diff/loaded-config.js';
import { BuildTurns, disposeRuntime, Disposals } from './build-turns.js';
import type { ReloadResult } from '../options.js';
import type { Candidate, CandidateEnd, Prepared } from './prepared.js';
import type { SlotSources } from '../slots/slot-sources.js';
import { GatewayError, isGatewayError, type Logger } from '../../plugin/index.js';
import type { Live } from '../../plugin/core.js';
import { SerialQueue } from '../../kit/serial-queue.js';
import type { Runtime } from '../runtime.js';

interface CurrentConfigOptions {
  readonly log: Logger;
  readonly live: Live;
  readonly slots: SlotSources;
  /** Aborted once no config may be taken any more. */
  readonly closing: AbortSignal;
  /** Loads the config of a reload and builds and starts its pipeline. Throws ConfigError. */
  readonly buildNext: () => Promise<Runtime>;
  /** Reads the current config and builds its pipeline, without starting it. Throws ConfigError. */
  readonly buildPreview: () => Promise<Runtime>;
  /** Throws for a next config that must not replace the one before. */
  readonly refuse: (before: Config, next: Config) => Promise<void>;
  /** The config in force with its plugins. */
  readonly loadedNow: (runtime: Runtime) => LoadedConfig;
  /** The config of a runtime that is not in force yet with its plugins. */
  readonly loadedNext: (runtime: Runtime) => Promise<LoadedConfig>;
}

/** Effect of a reload that has not been made. */
export interface Preview {
  readonly changes: ConfigDiff;
  /** Reasons why a valid config would be refused, one sentence each. */
  readonly refusals: readonly string[];
}

/**
 * The runtime in force and its replacement. Changes of the config and of the console's slots run one at a
 * time.
 */
export class CurrentConfig {
  readonly #options: CurrentConfigOptions;
  readonly #started: Config;
  #runtime: Runtime;
  /** Runtime for a share of new sessions, built beside the one in force. */
  #candidate: Candidate | undefined;
  readonly #builds: BuildTurns;
  readonly #disposals: Disposals;
  /** Changes of the runtime that do not wait for a build. */
  readonly #taking = new SerialQueue();

  constructor(runtime: Runtime, options: CurrentConfigOptions) {
    this.#runtime = runtime;
    this.#started = runtime.config;
    this.#options = options;
    this.#builds = new BuildTurns(options.closing);
    this.#disposals = new Disposals(options.log);
    options.live.messages.receive(slotsTopic, () => void this.#takeSlotsOfOthers());
  }

  get runtime(): Runtime {
    return this.#runtime;
  }

  /** Config beside the one in force. */
  get candidate(): Candidate | undefined {
    return this.#candidate;
  }

  /**
   * Builds the next runtime; the current one stays in force until it is taken. Throws ConfigError, and
   * `shutting_down`.
   */
  prepare(): Promise<Prepared> {
    const { buildNext } = this.#options;
    return this.#builds.run(buildNext, async (next, done) => {
      await this.#options.refuse(this.#runtime.config, next.config);
      const changes = await this.#changes(next);
      return {
        changes,
        runtime: next,
        take: () => this.#taking.run(() => this.#take(next, changes)).finally(done),
        hold: (onEnd) => this.#taking.run(() => this.#hold({ runtime: next, changes, onEnd })).finally(done),
        leave: () => disposeRuntime(next).finally(done),
      };
    });
  }

  /**
   * Reports the changes of a reload, and why it would be refused all the same. Sets the stages of the new config up, for
   * their problems, and disposes them; throws as `prepare` for an invalid config.
   */
  preview(): Promise<Preview> {
    const { buildPreview } = this.#options;
    return this.#builds.run(buildPreview, async (next, done) => {
      const refusals = await this.#refusals(next.config);
      const changes = await this.#changes(next);
      await disposeRuntime(next);
      done();
      return { changes, refusals };
    });
  }

  async #refusals(next: Config): Promise<readonly string[]> {
    try {
      await this.#options.refuse(this.#runtime.config, next);
      return [];
    } catch (error) {
      if (isGatewayError(error) && error.code === 'conflict') return [error.message];
      throw error;
    }
  }

  /** Takes a candidate. Throws `conflict` if it has ended. */
  takeCandidate(candidate: Candidate): Promise<ReloadResult> {
    return this.#taking.run(async () => {
      if (this.#candidate !== candidate) throw new GatewayError('conflict', 'The canary has ended already.');
      return this.#take(candidate.runtime, candidate.changes);
    });
  }

  /** Discards a candidate, whose requests finish on it; false if it has ended already. */
  leaveCandidate(candidate: Candidate, end: CandidateEnd): Promise<boolean> {
    return this.#taking.run(async () => {
      if (this.#candidate !== candidate) return false;
      this.#leaveCandidate(end);
      return true;
    });
  }

  /** Discards the candidate, if there is one, and resolves when all former runtimes are disposed. */
  async close(): Promise<void> {
    await this.#taking.run(async () => this.#leaveCandidate('cancelled'));
    await this.#disposals.settled();
  }

  refuseIfClosing(): void {
    this.#builds.refuseIfClosing();
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
  settled(): Promise<void> {
    return this.#taking.settled();
  }

  async #hold(candidate: Candidate): Promise<Candidate> {
    if (this.#options.closing.aborted) await disposeRuntime(candidate.runtime);
    this.refuseIfClosing();
    this.#leaveCandidate('replaced');
    this.#candidate = candidate;
    return candidate;
  }

  #leaveCandidate(end: CandidateEnd): void {
    const left = this.#candidate;
    this.#candidate = undefined;
    if (!left) return;
    this.#disposals.add(left.runtime);
    left.onEnd(end);
  }

  async #take(next: Runtime, changes: ConfigDiff): Promise<ReloadResult> {
    const { config, models } = next;
    const { log, slots } = this.#options;
    const taken = next === this.#candidate?.runtime ? this.#candidate : undefined;
    if (taken) this.#candidate = undefined;
    try {
      this.refuseIfClosing();
      await slots.take(config, models);
    } catch (error) {
      taken?.onEnd('cancelled');
      this.#disposals.add(next);
      throw error;
    }
    taken?.onEnd('committed');
    this.#leaveCandidate('replaced');
    const old = this.#runtime;
    this.#runtime = next;
    const changed = needsRestart(this.#started, config);
    if (changed.length > 0) log.warn({ changed }, 'These settings take effect at the next start.');
    const counts = { stages: config.pipeline.length, slots: config.slots.length };
    log.info({ ...counts, changes: countChanges(changes) }, 'The config was reloaded.');
    this.#disposals.add(old);
    return { needsRestart: changed, changes };
  }

  #takeSlots(): Promise<void> {
    return this.#taking.run(() => this.#options.slots.take(this.#runtime.config));
  }

  async #takeSlotsOfOthers(): Promise<void> {
    try {
      if (!this.#options.closing.aborted) await this.#takeSlots();
    } catch (error) {
      const message = 'The slots changed by another instance could not be loaded.';
      this.#options.log.error({ err: error }, message);
    }
  }
}

const slotsTopic = 'slots';
