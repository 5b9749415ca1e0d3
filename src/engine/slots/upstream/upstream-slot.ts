import {
  changedError,
  EventStream,
  isGatewayError,
  toGatewayError,
  withFields,
  type Logger,
  type Slot,
  type SlotCall,
  type TokenCount,
} from '../../../plugin/index.js';
import { errorWithout, type Windows } from '../../../plugin/core.js';
import {
  isHeaderValue,
  type Credential,
  type DiagnosisStep,
  type ListedModel,
  type OutgoingRequest,
  type UpstreamQuery,
  type UpstreamCall,
  type UpstreamReply,
} from '../../../plugin/upstream/index.js';
import { within } from '../../../kit/time/within.js';
import type { SlotAccount } from '../accounts/slot-account.js';
import type { SlotConfig } from '../../../config/config.js';
import { DiscoveredModels } from './discovered-models.js';
import type { AccountHealth } from '../health/account-health.js';
import type { OpenUpstream, SlotPlugins } from './open-upstream.js';
import { asRefusal, refusedAnswer, unsendable, withReset } from './call-errors.js';
import { authorized } from './authorized-call.js';
import type { TextMask } from '../../masking/text-mask.js';
import type { SlotSecrets } from '../slot-secrets.js';

export interface UpstreamSlotParts {
  readonly id: string;
  readonly account: SlotAccount;
  readonly upstream: OpenUpstream;
  readonly plugins: SlotPlugins;
  readonly health: AccountHealth;
  readonly secrets: SlotSecrets;
  readonly log: Logger;
  readonly now: () => number;
}

/** Open upstream with the account used for its calls. A reload may replace it by another one. */
export class UpstreamSlot implements Slot {
  readonly id: string;
  readonly account: SlotAccount;
  readonly health: AccountHealth;
  readonly plugins: SlotPlugins;
  readonly refused: Slot['refused'];
  readonly #upstream: OpenUpstream;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly discovered: DiscoveredModels;
  /** Prices of its slot. */
  prices: Pick<SlotConfig, 'prices' | 'discount'> = {};
  readonly #secrets: SlotSecrets;
  #held = 0;
  #keepsAccount = false;
  #onClosed: (() => void) | undefined;
  #closed: Promise<void> | undefined;
  #started: Promise<void> | undefined;

  constructor({ id, account, upstream, plugins, health, secrets, log, now }: UpstreamSlotParts) {
    this.id = id;
    this.account = account;
    this.health = health;
    this.#secrets = secrets;
    this.plugins = plugins;
    this.refused = upstream.refused;
    this.#upstream = upstream;
    this.discovered = new DiscoveredModels(upstream.knownModels);
    this.#log = log;
    this.#now = now;
  }

  /** Starts the account, then the upstream, each by `part`; a slot that has started does nothing. */
  start(part: (name: 'account' | 'upstream', start: () => Promise<void>) => Promise<void>): Promise<void> {
    this.#started ??= part('account', () => this.account.start()).then(() =>
      part('upstream', () => this.#upstream.start()),
    );
    return this.#started;
  }

  /** Probes of the upstream and of the account, as far as their kinds have them. */
  probes(signal: AbortSignal): Readonly<Partial<Record<'upstream' | 'account', () => void | Promise<void>>>> {
    const { probe } = this.#upstream;
    return {
      ...(this.account.probe && { account: this.account.probe }),
      ...(probe && { upstream: () => probe(this.#query(signal)) }),
    };
  }

  /** Base URL of the upstream; undefined for one without a network. */
  get baseUrl(): string | undefined {
    return this.#upstream.baseUrl;
  }

  get accountKind(): string {
    return this.account.kind;
  }

  get reportsWindows(): boolean {
    return this.account.reportsWindows;
  }

  /** Texts that no message may show. */
  get secrets(): readonly string[] {
    return this.#secrets.texts;
  }

  /** Mask for texts from the upstream. */
  get mask(): TextMask {
    return this.#secrets.mask;
  }

  readonly hide = (text: string): string => this.#secrets.exact(text);

  get windows(): Windows {
    return this.health.gauge.windows;
  }

  async generate(call: SlotCall): Promise<UpstreamReply> {
    const reply = await this.#send('generate', call);
    this.health.gauge.read(reply.headers);
    const events = EventStream.from(reply.events).mapFailure(this.#withoutSecrets);
    return events === reply.events ? reply : withFields(reply, { events }); // plugins may give any iterable
  }

  countTokens(call: SlotCall): Promise<TokenCount> {
    return this.#send('countTokens', call);
  }

  /** Diagnoses the upstream. A problem of the account is not thrown: it is a failed step. */
  async diagnose(signal: AbortSignal): Promise<readonly DiagnosisStep[]> {
    const { origin } = new URL(this.baseUrl ?? 'http://localhost'); // for an account that signs
    const asked = { method: 'GET', origin, path: '/', headers: {}, signal } as const;
    const problem = await this.#authorize(asked).then(() => undefined, toGatewayError);
    const query = problem ? { signal, authorize: () => ({}) } : this.#query(signal);
    const steps = await this.#upstream.diagnose(query);
    const refused = problem && ({ step: 'credential', ok: false, ms: 0, detail: problem.message } as const);
    return [...steps, ...(refused ? [refused] : [])].map((step) => ({
      ...step,
      detail: this.hide(step.detail),
    }));
  }

  /** False for kinds of upstream without a list of models. */
  get listsModels(): boolean {
    return this.#upstream.models !== undefined;
  }

  /** Lists the models of the account, newest first, and keeps the list. Throws as a call does. */
  async listModels(signal: AbortSignal): Promise<readonly ListedModel[]> {
    const models = (await this.#listed(signal)) ?? [];
    if (this.discovered.take(models) && this.discovered.isOn) this.#logDiscovered();
    return models;
  }

  async #listed(signal: AbortSignal): Promise<readonly ListedModel[] | undefined> {
    try {
      return await this.#upstream.models?.(this.#query(signal));
    } catch (error) {
      // An operator asks: the message with the slot and its cause.
      const own = isGatewayError(error) ? changedError(error, { callersMessage: undefined }) : error;
      throw this.#withoutSecrets(own);
    }
  }

  /** Logs the models that its slot serves, once they are known. */
  #logDiscovered(): void {
    const { list } = this.discovered;
    const models = list.slice(0, maxLogged).map(({ id }) => id);
    this.#log.info({ slot: this.id, count: list.length, models }, 'Listed the models of a slot.');
  }

  /** True if the upstream accepts the account; undefined if it cannot be probed free of charge. */
  async isAccepted(call: SlotCall & { readonly signal: AbortSignal }): Promise<boolean | undefined> {
    const { probe } = this.#upstream;
    if (probe) return probe(this.#query(call.signal)).then(() => true);
    if (!this.#upstream.canCountTokens) return undefined;
    return !(await this.countTokens(call)).estimated;
  }

  /** Adds a user: the upstream is not closed before its `release`. */
  hold(): void {
    this.#held += 1;
  }

  release(): void {
    this.#held -= 1;
    this.#closeWhenUnused();
  }

  /** Closes the upstream once it has no users, then calls `onClosed`; the account may continue without it. */
  retire(onClosed: () => void, { keepsAccount = false } = {}): void {
    this.#keepsAccount = keepsAccount;
    this.#onClosed = onClosed;
    this.#closeWhenUnused();
  }

  /** Closes the upstream at once, and its account unless another slot has that. */
  close({ keepsAccount = this.#keepsAccount } = {}): Promise<void> {
    this.#keepsAccount = keepsAccount;
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#attempt(() => this.#upstream.close());
    if (!this.#keepsAccount) await this.#attempt(() => this.account.close());
  }

  /** Closes a part; one that throws or hangs is logged and abandoned, since the store must be closed after it. */
  async #attempt(close: () => Promise<void>): Promise<void> {
    const late = `Its close has not ended within ${closeTimeoutMs / 1000} s.`;
    try {
      await within(close(), closeTimeoutMs, late);
    } catch (error) {
      this.#log.warn({ err: error, slot: this.id }, 'An upstream or its account could not be closed.');
    }
  }

  #closeWhenUnused(): void {
    if (!this.#onClosed || this.#held > 0) return;
    void this.close().then(this.#onClosed);
  }

  /** Sends a call; after a 401, renews the credential if the account can, and retries once. */
  async #send<Kind extends keyof Answers>(kind: Kind, call: SlotCall): Promise<Answers[Kind]> {
    const upstream: Asked = this.#upstream;
    let credential: Credential | undefined;
    const first = authorized(call, async (request) => {
      credential = await this.account.authorize(request);
      return this.#checked(credential);
    });
    try {
      return await upstream[kind](first);
    } catch (thrown) {
      const error = this.#judged(thrown);
      const answer = refusedAnswer(error);
      if (!credential || !answer || !(await this.account.refresh(credential, call.signal, answer)))
        throw this.#withoutSecrets(withReset(error, this.#now()));
    }
    try {
      return await upstream[kind](authorized(call, this.#authorize));
    } catch (error) {
      throw this.#withoutSecrets(withReset(this.#judged(error), this.#now()));
    }
  }

  /** The error, as a 401 if the account reports a refused credential; also reads its windows. */
  #judged(error: unknown): unknown {
    if (!isGatewayError(error) || error.failure?.kind !== 'status') return error;
    const { status, headers } = error.failure;
    this.health.gauge.read(headers);
    return status !== 401 && this.account.isRefusal({ status, headers }) ? asRefusal(error, headers) : error;
  }

  readonly #withoutSecrets = (error: unknown): unknown =>
    isGatewayError(error) ? errorWithout(error, this.hide) : error;

  readonly #authorize = async (request: OutgoingRequest): Promise<Credential> =>
    this.#checked(await this.account.authorize(request));

  /** Throws a refusal (401) if no HTTP header can contain the credential; then nothing is sent. */
  #checked(credential: Credential): Credential {
    this.#secrets.note(credential);
    for (const name in credential) if (!isHeaderValue(credential[name] ?? '')) throw unsendable(this.id);
    return credential;
  }

  #query(signal: AbortSignal): UpstreamQuery {
    return { signal, authorize: this.#authorize };
  }
}

/** Time limit for an upstream, and for an account, to close. */
const closeTimeoutMs = 5000;

interface Answers {
  readonly generate: UpstreamReply;
  readonly countTokens: TokenCount;
}

type Asked = { readonly [Kind in keyof Answers]: (call: UpstreamCall) => Promise<Answers[Kind]> };

const maxLogged = 50;
