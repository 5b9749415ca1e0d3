import type { CanaryReport } from './canary-report.js';
import type { Opened } from '../../gateway/extension.js';
import type { Gateway } from '../../gateway/gateway.js';
import type { CanaryReloads, StartedCanary } from '../../gateway/reload/canary-reloads.js';
import type { ReloadOptions, ReloadResult } from '../../gateway/options.js';
import { LocalCanary } from './local-canary.js';

/** Opens the canary of a gateway, which is placed before its requests. */
export function openCanary(gateway: Gateway): Opened<CanaryReload> {
  const here = new LocalCanary(gateway.services, gateway.current);
  return { api: new CanaryReload(gateway, here), watch: here };
}

/** Reload for a share of new sessions at first, in all processes of the gateway. */
export class CanaryReload implements CanaryReloads {
  readonly #gateway: Gateway;
  /** The canary of this process. */
  readonly here: LocalCanary;

  constructor(gateway: Gateway, here: LocalCanary) {
    this.#gateway = gateway;
    this.here = here;
  }

  async start(percent: number, { skipsTests = false }: ReloadOptions = {}): Promise<StartedCanary> {
    const { workerGroup } = this.#gateway;
    if (!skipsTests) await this.#gateway.reloads.test();
    const changes = workerGroup
      ? await workerGroup.startCanary(percent)
      : await this.here.start(await this.#gateway.reloads.prepare(), percent);
    return { shared: this.report?.shared ?? true, changes };
  }

  /** Applies the canary's config to all requests. Throws `conflict` if none is running. */
  commit(): Promise<ReloadResult> {
    const { workerGroup } = this.#gateway;
    return workerGroup ? workerGroup.commitCanary() : this.here.commit();
  }

  /** Ends the canary; the config in force stays. Throws `conflict` if none is running. */
  cancel(): Promise<void> {
    const { workerGroup } = this.#gateway;
    return workerGroup ? workerGroup.cancelCanary() : this.here.cancel();
  }

  /** The running canary, or else the last one, in all instances; undefined if there has been none. */
  get report(): CanaryReport | undefined {
    return this.here.report;
  }
}
