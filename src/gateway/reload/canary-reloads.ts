import type { ConfigDiff } from '../../config/diff/config-diff.js';
import { GatewayError } from '../../plugin/index.js';
import type { Gateway } from '../gateway.js';
import type { ExtensionName } from '../extension.js';
import type { ReloadOptions, Taken } from '../options.js';
import type { Prepared } from './prepared.js';

/** Reloads for a share of new sessions at first, which a feature brings. */
export interface CanaryReloads {
  /**
   * Gives the config as it stands now to `percent` of the new sessions, in all processes. Throws ConfigError, and
   * `conflict` where its tests fail or it changes slots or models.
   */
  start(percent: number, options?: ReloadOptions): Promise<StartedCanary>;
  /** Canary of this process alone, for its group of workers. */
  readonly here: LocalCanaryReloads;
}

/** Canary that has started. */
export interface StartedCanary {
  /** False if the other instances could not be reached. */
  readonly shared: boolean;
  readonly changes: ConfigDiff;
}

interface LocalCanaryReloads {
  start(prepared: Prepared, percent: number, onGivenUp?: () => void): Promise<ConfigDiff>;
  /** Takes the candidate wholly. Throws `conflict` if no canary runs. */
  commit(): Promise<Taken>;
  /** Ends the canary. Throws `conflict` if no canary runs. */
  cancel(): Promise<void>;
}

/** Name of the extension that brings them. */
export const canaryReloads: ExtensionName<CanaryReloads> = { name: 'canary' };

/** Canaries of a gateway. Throws `invalid_request` if no feature brings them. */
export async function canariesOf(gateway: Gateway): Promise<CanaryReloads> {
  const canaries = await gateway.find(canaryReloads);
  if (!canaries) throw new GatewayError('invalid_request', 'canary: this gateway does not support canaries.');
  return canaries;
}
