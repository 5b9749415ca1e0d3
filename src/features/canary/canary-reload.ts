import type { CanaryReport } from './canary-report.js';
import type { ConfigDiff } from '../../config/diff/config-diff.js';
import type { Opened } from '../../gateway/extension.js';
import type { Gateway } from '../../gateway/gateway.js';
import type { Taken } from '../../gateway/options.js';
import { LocalCanary } from './local-canary.js';

/** Opens the canary of a gateway, which is placed before its requests. */
export function openCanary(gateway: Gateway): Opened<CanaryReload> {
  const here = new LocalCanary(gateway.services, gateway.current);
  return { api: new CanaryReload(gateway, here), watch: here };
}

/** Reload for a share of new sessions at first, in all processes of the gateway. */
export class CanaryReload {
  readonly #gateway: Gateway;
  /** The canary of this process. */
  readonly here: LocalCanary;

  constructor(gateway: Gateway, here: LocalCanary) {
    this.#gateway = gateway;
    this.here = here;
  }

  /**
   * Gives the config as it stands now to `percent` of the new sessions. Throws ConfigError, and `conflict` where its
   * tests fail or it changes slots or models.
   */
  async start(percent: number, { skipsTests = false } = {}): Promise<ConfigDiff> {
    const { workerGroup } = this.#gateway;
    if (!skipsTests) await this.#gateway.testNext();
    if (workerGroup) return workerGroup.startCanary(percent);
    return this.here.start(await this.#gateway.prepareReload(), percent);
  }

  /** Takes the canary's config for all requests. Throws `conflict` where none runs. */
  commit(): Promise<Taken> {
    const { workerGroup } = this.#gateway;
    return workerGroup ? workerGroup.commitCanary() : this.here.commit();
  }

  /** Ends the canary; the config in force stays. Throws `conflict` where none runs. */
  cancel(): Promise<void> {
    const { workerGroup } = this.#gateway;
    return workerGroup ? workerGroup.cancelCanary() : this.here.cancel();
  }

  /** The canary that runs, or else the last one, in all instances; undefined if there has been none. */
  get report(): CanaryReport | undefined {
    return this.here.report;
  }
}
