import type { ConfigDiff } from '../../config/diff/config-diff.js';
import { GatewayError } from '../../plugin/index.js';
import type { Gateway } from '../gateway.js';
import type { ExtensionName } from '../extension.js';
import type { ReloadOptions, ReloadResult } from '../options.js';
import type { Prepared } from './prepared.js';

/** Reloads for a share of new sessions at first, which a feature brings. */
export interface CanaryReloads {
  /**
   * Gives the current config to `percent` of the new sessions, in all processes. Throws ConfigError, and `conflict` if
   * its tests fail or it changes slots or models.
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
  /** Takes the candidate as a whole. Throws `conflict` if no canary is running. */
  commit(): Promise<ReloadResult>;
  /** Ends the canary. Throws `conflict` if no canary is running. */
  cancel(): Promise<void>;
}

/** Name of the extension that provides them. */
export const canaryReloads: ExtensionName<CanaryReloads> = { name: 'canary' };

/** Canaries of a gateway. Throws `invalid_request` if no feature provides them. */
export async function canariesOf(gateway: Gateway): Promise<CanaryReloads> {
  const canaries = await gateway.find(canaryReloads);
  if (!canaries) throw new GatewayError('invalid_request', 'canary: this gateway does not support canaries.');
  return canaries;
}
