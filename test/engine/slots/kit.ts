import {
  EventStream,
  GatewayError,
  type Clock,
  type Logger,
  type Models,
  type SlotCall,
  type TokenCount,
} from '#src/plugin/index.js';
import type { Credential, Upstream, UpstreamCall, UpstreamReply } from '#src/plugin/upstream/index.js';
import type { LeaseRequest } from '#src/plugin/contract/slot/slots.js';
import type { AccountKind } from '#src/plugin/contract/slot/account.js';
import type { UpstreamKind } from '#src/plugin/contract/slot/upstream.js';
import { defineUpstream } from '@gw2api/gateway/plugin/upstream';
import { fakeModels, ManualClock } from '@gw2api/gateway/testing';
import apiKey from '#plugins/accounts/api-key.js';
import azureEntra from '#plugins/accounts/azure-entra.js';
import google from '#plugins/accounts/google.js';
import none from '#plugins/accounts/none.js';
import oauth from '#plugins/accounts/oauth.js';
import type { SlotConfig } from '#src/config/config.js';
import { builtinPolicies } from '#src/engine/slots/selection/policies.js';
import type { SlotPoolOptions } from '#src/engine/slots/pool/pool-options.js';
import { SlotPool } from '#src/engine/slots/pool/pool.js';
import type { SlotLoader } from '#src/engine/slots/open-slot.js';
import { MemoryHub } from '#src/state/live/memory/hub.js';
import { MemoryStore } from '#src/state/store/memory/store.js';
import { defaultCooldown } from '../../default-cooldown.js';

/** A call with the credential that its account has given. */
export type CreditedCall = UpstreamCall & { readonly credential: Credential };

/** An upstream that does what the test says. */
export class FakeUpstream {
  readonly calls: CreditedCall[] = [];
  isClosed = false;
  generate: (call: CreditedCall) => Promise<UpstreamReply> = async (call) => {
    this.calls.push(call);
    return { status: 200, headers: {}, events: EventStream.from(noEvents()) };
  };
  countTokens: (call: CreditedCall) => Promise<TokenCount> = async (call) => {
    this.calls.push(call);
    return { inputTokens: 3, estimated: false };
  };
}

/** A kind of upstream that opens fakes. */
export function fakeKind(opened: (id: string, upstream: FakeUpstream) => void): UpstreamKind {
  return defineUpstream({
    name: 'fake',
    open(_options, { slot }): Upstream {
      const upstream = new FakeUpstream();
      opened(slot.id, upstream);
      return {
        generate: async (call) => upstream.generate(await credited(call)),
        countTokens: async (call) => upstream.countTokens(await credited(call)),
        diagnose: async () => [{ step: 'resolve', ok: true, ms: 1, detail: '127.0.0.1' }],
        close: async () => void (upstream.isClosed = true),
      };
    },
  });
}

async function credited(call: UpstreamCall): Promise<CreditedCall> {
  const { signal } = call;
  const asked = { method: 'POST', origin: 'http://fake', path: '/', headers: {}, signal } as const;
  return { ...call, credential: await call.authorize(asked) };
}

/** Slots whose upstream is of one kind, whatever its name, and whose accounts are the built-in ones. */
export function fakePlugins(plugin: UpstreamKind): SlotLoader {
  return {
    slot({ id, upstream, with: options, account = { kind: 'none' } }) {
      if (upstream === 'unheard-of')
        return Promise.reject(new Error(`Slot "${id}" has an unknown upstream "${upstream}".`));
      const { kind, ...rest } = account;
      const own = accounts.find(({ name }) => name === kind);
      if (!own) return Promise.reject(new Error(`There is no account "${kind}".`));
      return Promise.resolve({ upstream: { plugin, options }, account: { plugin: own, options: rest } });
    },
    resolvePath: (file: string) => file,
    upstream: () => Promise.reject(new Error('It opens no other upstream.')),
  };
}

const accounts: readonly AccountKind[] = [apiKey, azureEntra, google, none, oauth];

async function* noEvents(): AsyncGenerator<[]> {
  yield [];
}

export const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silent,
};

export function slotConfig(id: string, changes: Partial<SlotConfig> = {}): SlotConfig {
  return {
    id,
    upstream: 'fake',
    account: { kind: 'api-key', key: `key-of-${id}`, header: 'x-api-key' },
    models: ['*'],
    maxConcurrent: 2,
    weight: 1,
    headers: {},
    connectTimeoutMs: 1000,
    cooldown: defaultCooldown,
    with: {},
    path: 'slots[0]',
    at: { file: 'gateway.yaml', line: 1, column: 1 },
    positionOf: () => ({ file: 'gateway.yaml', line: 1, column: 1 }),
    isValid: () => true,
    ...changes,
  };
}

/** `sonnet-5`, which the upstream calls `up-sonnet-5`, and `haiku-5` likewise. */
export const catalog: Models = fakeModels(
  { id: 'sonnet-5', upstreamModel: 'up-sonnet-5' },
  { id: 'haiku-5', upstreamModel: 'up-haiku-5' },
);

export interface Kit {
  readonly pool: SlotPool;
  readonly clock: ManualClock;
  readonly store: MemoryStore;
  /** Opened upstreams by slot id, in the order of opening. */
  readonly upstreams: ReadonlyMap<string, readonly FakeUpstream[]>;
  upstream(id: string): FakeUpstream;
}

export async function openPool(
  slots: readonly SlotConfig[],
  changes: Omit<Partial<SlotPoolOptions>, 'clock' | 'store'> & {
    clock?: ManualClock;
    /** The clock of the pool alone. */
    poolClock?: Clock;
    store?: MemoryStore;
  } = {},
): Promise<Kit> {
  const { clock = new ManualClock() } = changes;
  const { store = new MemoryStore({ now: clock.now }) } = changes;
  const upstreams = new Map<string, FakeUpstream[]>();
  const plugin = fakeKind((id, upstream) => {
    upstreams.set(id, [...(upstreams.get(id) ?? []), upstream]);
  });
  const pool = await SlotPool.open({
    slots,
    plugins: fakePlugins(plugin),
    models: catalog,
    log: silent,
    ...changes,
    clock: changes.poolClock ?? clock,
    store,
    live: changes.live ?? new MemoryHub({ now: clock.now }).connect(),
  });
  return { pool, clock, store, upstreams, upstream: (id) => upstreams.get(id)!.at(-1)! };
}

export type LeaseChanges = Partial<LeaseRequest> & { readonly model?: string };

export function leaseRequest({ model = 'sonnet-5', ...changes }: LeaseChanges = {}): LeaseRequest {
  return {
    request: { model, messages: [] },
    caller: { kind: 'master', keyId: 'master', name: 'master' },
    policy: builtinPolicies['least-loaded']!(),
    queueTimeoutMs: 30_000,
    signal: new AbortController().signal,
    ...changes,
  };
}

export function sticky(key: string, changes: LeaseChanges = {}): LeaseRequest {
  return leaseRequest({ sticky: { key, ttlMs: 3_600_000 }, ...changes });
}

export function slotCall(changes: Partial<SlotCall> = {}): SlotCall {
  return {
    request: { model: 'up-sonnet-5', messages: [] },
    headers: {},
    search: '',
    signal: new AbortController().signal,
    headersTimeoutMs: 1000,
    idleTimeoutMs: 1000,
    ...changes,
  };
}

/** An upstream's error answer. */
export function refusal(status: number, headers: Readonly<Record<string, string>> = {}): GatewayError {
  return new GatewayError('upstream_says_no', `status ${status}`, {
    status,
    type: 'api_error',
    failure: { kind: 'status', status, headers },
  });
}

export function failure(kind: 'timeout' | 'interrupted' | 'empty' | 'foreign'): GatewayError {
  return new GatewayError('upstream_interrupted', kind, { failure: { kind } });
}

export function unreachable(reused = false): GatewayError {
  return new GatewayError('upstream_unreachable', 'unreachable', {
    failure: { kind: 'unreachable', reused },
  });
}

/** What a promise was rejected with. */
export async function rejection(promise: Promise<unknown>): Promise<GatewayError> {
  try {
    await promise;
  } catch (error) {
    return error as GatewayError; // tests look at its fields
  }
  throw new Error('The promise was not rejected.');
}

/** Lets everything that is already settled go on. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** The state of a slot with everything that says why. */
export function stateOf({ pool, clock }: Kit, id: string): unknown {
  const { state, reason, untilMs } = pool.list().find((slot) => slot.id === id)!;
  return { state, reason, forMs: untilMs === null ? null : untilMs - clock.now() };
}

export function modelsOf({ pool, clock }: Kit, id: string): unknown {
  const { models } = pool.list().find((slot) => slot.id === id)!;
  return models.map(({ model, reason, untilMs }) => ({ model, reason, forMs: untilMs - clock.now() }));
}
