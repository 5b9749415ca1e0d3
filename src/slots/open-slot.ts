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

/** Kinds of upstream by the name that `slots[].upstream` gives them; a Map will do. */
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

/** What an upstream stands for besides its address; kept where a reload leaves the account as it was. */
export interface Identity {
  readonly account: Account;
  readonly standing: AccountHealth;
}

/** Opens the upstream of a slot. Throws what its adapter throws, and `internal` where there is no such adapter. */
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

/** Whether two configs of a slot mean the same account, reached the same way. */
export function isSameAccount(a: SlotConfig, b: SlotConfig): boolean {
  return accountDigest(a) === accountDigest(b) && a.isGuarded === b.isGuarded;
}

/** Whether the upstream of one config serves for the other. */
export function isSameUpstream(a: SlotConfig, b: SlotConfig): boolean {
  return isSameAccount(a, b) && JSON.stringify(settingsOf(a)) === JSON.stringify(settingsOf(b));
}

function settingsOf(config: SlotConfig): readonly unknown[] {
  const { upstream, baseUrl, headers, connectTimeoutMs, maxConcurrent } = config;
  return [upstream, baseUrl, headers, connectTimeoutMs, maxConcurrent];
}
