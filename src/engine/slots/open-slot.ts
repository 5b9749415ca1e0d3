import type { Clock, Logger } from '../../plugin/index.js';
import type { Live, SharedMap } from '../../plugin/core.js';
import type { SlotSettings } from '../../plugin/upstream/index.js';
import type { Store } from '../../state/store/contract/store.js';
import type { SlotConfig } from '../../config/config.js';
import { SlotAccount } from './accounts/slot-account.js';
import { accountDigest, type AccountIdentity } from './replicated/shared-slot-state.js';
import { AccountHealth } from './health/account-health.js';
import {
  httpClients,
  noAddress,
  OpenUpstream,
  type SlotPlugins,
  type UpstreamParts,
} from './upstream/open-upstream.js';
import type { OpenHttpClient } from '../transport/http-client.js';
import { openInTime } from './open-in-time.js';
import { configuredSecrets, SlotSecrets } from './slot-secrets.js';
import { UpstreamSlot } from './upstream/upstream-slot.js';

/** Loader of the plugins that slots name. */
export interface SlotLoader {
  /** Throws a ConfigError if a plugin cannot be loaded, or does not take its options. */
  slot(config: SlotConfig): Promise<SlotPlugins>;
  readonly upstream: UpstreamParts['load'];
  /** Absolute path of a file that an option names. */
  readonly resolvePath: (file: string) => string;
  /** Time limit for a plugin to open; default 10 s. */
  readonly timeoutMs?: number;
}

export interface OpenOptions {
  readonly plugins: SlotLoader;
  readonly credentials: Store['credentials'];
  readonly live: Live;
  readonly shared: SharedMap;
  readonly log: Logger;
  readonly clock: Clock;
  /** Default: clients that connect. */
  readonly openClient?: OpenHttpClient | undefined;
  /** True if opened slots are also started. */
  readonly starts: boolean;
}

/** Account and health of a slot; reused when a reload keeps the account. */
export interface Identity {
  readonly account: SlotAccount;
  readonly health: AccountHealth;
}

/**
 * Opens the upstream of a slot, and its account unless that is known. Throws a ConfigError for a plugin that
 * fails or hangs, and then leaves nothing open.
 */
export async function openSlot(
  config: SlotConfig,
  plugins: SlotPlugins,
  options: OpenOptions,
  known: Identity | undefined,
): Promise<UpstreamSlot> {
  const { id } = config;
  const { shared, clock, openClient } = options;
  const log = options.log.child({ slot: id });
  const { upstream: load, timeoutMs } = options.plugins;
  const withLog = { ...options, log };
  const account =
    known?.account ??
    (await openInTime(config, 'account', () => openAccount(config, plugins, withLog), timeoutMs));
  const identity = { id, ...identityOf({ config, plugins }) };
  const health = known?.health ?? new AccountHealth(identity, { shared, clock });
  const open = () =>
    OpenUpstream.open(settingsOf(config), plugins.upstream, { load, log, clock, openClient });
  const upstream = await openInTime(config, 'upstream', open, timeoutMs).catch(async (error: unknown) => {
    if (!known) await account.close();
    throw error;
  });
  const secrets = new SlotSecrets(configuredSecrets(config, plugins));
  return new UpstreamSlot({ id, account, upstream, health, secrets, log, now: clock.now, plugins });
}

async function openAccount(
  { id, account, proxy, isGuarded = false }: SlotConfig,
  plugins: SlotPlugins,
  { credentials, live, log, clock, openClient, plugins: { resolvePath } }: OpenOptions,
): Promise<SlotAccount> {
  const { plugin, options } = plugins.account;
  const limits = { connectTimeoutMs: accountTimeoutMs, isGuarded, usesEnvironment: true };
  const settings = { id, headers: {}, ...limits, log, clock };
  const openHttpClient = account ? (openClient ?? (await httpClients())) : noAddress;
  const connect = (baseUrl: string) =>
    openHttpClient({ ...settings, baseUrl, ...(proxy === undefined ? {} : { proxy }) }, 'account');
  return SlotAccount.open(account?.kind ?? 'none', plugin, options, {
    slotId: id,
    credentials,
    live,
    log,
    clock,
    connect,
    resolvePath,
    dry: openClient !== undefined,
  });
}

function settingsOf(config: SlotConfig): SlotSettings {
  const { id, baseUrl, proxy, tls, headers, connectTimeoutMs, maxConcurrent, isGuarded = false } = config;
  const settings = { id, headers, connectTimeoutMs, isGuarded, maxConcurrent };
  return {
    ...settings,
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(proxy === undefined ? {} : { proxy }),
    ...(tls && { tls: tls.settings }),
  };
}

/** Time limit for a connection to a URL of an account. */
const accountTimeoutMs = 30_000;

/** True if two slots have the same account of the same kind, reached in the same way. */
export function isSameAccount(a: Configured, b: Configured): boolean {
  return (
    accountDigest(identityOf(a)) === accountDigest(identityOf(b)) &&
    a.config.isGuarded === b.config.isGuarded &&
    a.plugins.account.plugin === b.plugins.account.plugin
  );
}

function identityOf({ config: { account, proxy }, plugins }: Configured): AccountIdentity {
  const { kind = 'none' } = account ?? {};
  return { account: { kind, ...plugins.account.options }, ...(proxy !== undefined && { proxy }) };
}

/** True if two slots can share one upstream. */
export function isSameUpstream(a: Configured, b: Configured): boolean {
  return (
    isSameAccount(a, b) &&
    a.plugins.upstream.plugin === b.plugins.upstream.plugin &&
    JSON.stringify(ownSettings(a)) === JSON.stringify(ownSettings(b))
  );
}

/** A slot of the config with its plugins. */
export interface Configured {
  readonly config: SlotConfig;
  readonly plugins: SlotPlugins;
}

function ownSettings({ config, plugins }: Configured): readonly unknown[] {
  const { upstream, baseUrl, tls, headers, connectTimeoutMs, maxConcurrent } = config;
  return [upstream, plugins.upstream.options, baseUrl, tls, headers, connectTimeoutMs, maxConcurrent];
}
