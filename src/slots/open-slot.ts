import {
  GatewayError,
  type Live,
  type Logger,
  type SharedMap,
  type Store,
  type UpstreamAdapter,
} from '../plugin/index.js';
import type { SlotConfig } from '../config/config.js';
import { openAccount } from './accounts/open-account.js';
import type { Account } from './accounts/account.js';
import { accountDigest } from './shared/shared-slot-state.js';
import { AccountHealth } from './health/account-health.js';
import type { SetTimer } from './timers.js';
import { UpstreamSlot } from './upstream-slot.js';

/** Upstream adapters by the name used in `slots[].upstream`; a Map fits. */
export interface Adapters {
  get(upstream: string): UpstreamAdapter | undefined;
}

export interface OpenOptions {
  readonly adapters: Adapters;
  readonly credentials: Store['credentials'];
  readonly live: Live;
  readonly shared: SharedMap;
  readonly log: Logger;
  readonly setTimer: SetTimer;
  readonly now: () => number;
}

/** Account and health of a slot; reused when a reload keeps the account. */
export interface Identity {
  readonly account: Account;
  readonly standing: AccountHealth;
}

/**
 * Opens the upstream of a slot. Throws the error of its adapter, and `internal` if there is no such adapter.
 */
export async function openSlot(
  config: SlotConfig,
  surroundings: OpenOptions,
  known: Identity | undefined,
): Promise<UpstreamSlot> {
  const { id, baseUrl, proxy, headers, connectTimeoutMs, maxConcurrent, isGuarded = false } = config;
  const { adapters, credentials, live, shared, log: parent, now, setTimer } = surroundings;
  const adapter = adapters.get(config.upstream);
  if (!adapter)
    throw new GatewayError('internal', `Slot "${id}" has an unknown upstream "${config.upstream}".`);
  const log = parent.child({ slot: id });
  const account =
    known?.account ??
    (await openAccount(config.account, { slotId: id, credentials, live, proxy, isGuarded, log, now }));
  const standing = known?.standing ?? new AccountHealth(config, { shared, now, setTimer });
  const settings = { id, headers, connectTimeoutMs, isGuarded, maxConcurrent, log };
  const upstream = await adapter.open({
    ...settings,
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(proxy === undefined ? {} : { proxy }),
  });
  return new UpstreamSlot({ id, account, upstream, standing, log, now });
}

/** True if two configs of a slot have the same account, reached in the same way. */
export function isSameAccount(a: SlotConfig, b: SlotConfig): boolean {
  return accountDigest(a) === accountDigest(b) && a.isGuarded === b.isGuarded;
}

/** True if two configs can share one upstream. */
export function isSameUpstream(a: SlotConfig, b: SlotConfig): boolean {
  return isSameAccount(a, b) && JSON.stringify(settingsOf(a)) === JSON.stringify(settingsOf(b));
}

function settingsOf(config: SlotConfig): readonly unknown[] {
  const { upstream, baseUrl, headers, connectTimeoutMs, maxConcurrent } = config;
  return [upstream, baseUrl, headers, connectTimeoutMs, maxConcurrent];
}
