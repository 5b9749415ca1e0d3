import type { CanaryReport } from './canary-report.js';
import type { ConfigDiff } from '../../config/diff/config-diff.js';
import type { Taken, WorkerGroup } from '../../gateway/options.js';
import type { LocalCanary } from './local-canary.js';
import type { Prepared } from '../../gateway/reload/prepared.js';

interface CanaryReloadOptions {
  readonly here: LocalCanary;
  readonly workerGroup: WorkerGroup | undefined;
  /** Runs the tests of the config as it stands now. Throws as a reload does. */
  readonly test: () => Promise<void>;
  readonly prepare: () => Promise<Prepared>;
}

/** Reload for a share of new sessions at first, in all processes of the gateway. */
export class CanaryReload {
  readonly #options: CanaryReloadOptions;

  constructor(options: CanaryReloadOptions) {
    this.#options = options;
  }

  /**
   * Gives the config as it stands now to `percent` of the new sessions. Throws ConfigError, and `conflict` where its
   * tests fail or it changes slots or models.
   */
  async start(percent: number, { skipsTests = false } = {}): Promise<ConfigDiff> {
    const { here, workerGroup, test, prepare } = this.#options;
    if (!skipsTests) await test();
    return workerGroup ? workerGroup.startCanary(percent) : here.start(await prepare(), percent);
  }

  /** Takes the canary's config for all requests. Throws `conflict` where none runs. */
  commit(): Promise<Taken> {
    const { here, workerGroup } = this.#options;
    return workerGroup ? workerGroup.commitCanary() : here.commit();
  }

  /** Ends the canary; the config in force stays. Throws `conflict` where none runs. */
  cancel(): Promise<void> {
    const { here, workerGroup } = this.#options;
    return workerGroup ? workerGroup.cancelCanary() : here.cancel();
  }

  /** The canary that runs, or else the last one, in all instances; undefined if there has been none. */
  get report(): CanaryReport | undefined {
    return this.#options.here.report;
  }
}
