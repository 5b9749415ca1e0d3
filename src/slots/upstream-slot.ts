import {
  GatewayError,
  isGatewayError,
  isHeaderValue,
  withHeaders,
  toGatewayError,
  type AccountKind,
  type DiagnosisStep,
  type ListedModel,
  type Logger,
  type Slot,
  type SlotCall,
  type TokenCount,
  type Upstream,
  type UpstreamCall,
  type UpstreamReply,
  type Windows,
} from '../plugin/index.js';
import type { Account, Credential } from './accounts/account.js';
import type { AccountHealth } from './health/account-health.js';
import { exhaustion } from './health/transitions.js';

export interface UpstreamSlotParts {
  readonly id: string;
  readonly account: Account;
  readonly upstream: Upstream;
  readonly standing: AccountHealth;
  readonly log: Logger;
  readonly now: () => number;
}

/** Open upstream with the account used for its calls. A reload may replace it by another one. */
export class UpstreamSlot implements Slot {
  readonly id: string;
  readonly account: Account;
  readonly standing: AccountHealth;
  readonly #upstream: Upstream;
  readonly #log: Logger;
  readonly #now: () => number;
  #held = 0;
  #onClosed: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  constructor({ id, account, upstream, standing, log, now }: UpstreamSlotParts) {
    this.id = id;
    this.account = account;
    this.standing = standing;
    this.#upstream = upstream;
    this.#log = log;
    this.#now = now;
  }

  get accountKind(): AccountKind {
    return this.account.kind;
  }

  get windows(): Windows {
    return this.standing.gauge.windows;
  }

  async generate(call: SlotCall): Promise<UpstreamReply> {
    const reply = await this.#send('generate', call);
    this.standing.gauge.read(reply.headers);
    return reply;
  }

  countTokens(call: SlotCall): Promise<TokenCount> {
    return this.#send('countTokens', call);
  }

  /** Diagnoses the upstream. A problem of the account is not thrown: it is a failed step. */
  async diagnose(signal: AbortSignal): Promise<readonly DiagnosisStep[]> {
    const credential = await this.account.credential(signal).catch(toGatewayError);
    if (!isGatewayError(credential)) return this.#upstream.diagnose(signal, credential);
    const steps = await this.#upstream.diagnose(signal, {});
    return [...steps, { step: 'credential', ok: false, ms: 0, detail: credential.message }];
  }

  /** False for kinds of upstream without a list of models. */
  get listsModels(): boolean {
    return this.#upstream.models !== undefined;
  }

  /** Lists the models of the account, newest first. Throws as a call does. */
  async listModels(signal: AbortSignal): Promise<readonly ListedModel[]> {
    const credential = await this.account.credential(signal);
    return (await this.#upstream.models?.({ credential, signal })) ?? [];
  }

  /** Adds a user: the upstream is not closed before its `letGo`. */
  hold(): void {
    this.#held += 1;
  }

  letGo(): void {
    this.#held -= 1;
    this.#closeWhenUnused();
  }

  /** Closes the upstream once it has no users, then calls `onClosed`. */
  retire(onClosed: () => void): void {
    this.#onClosed = onClosed;
    this.#closeWhenUnused();
  }

  /** Closes the upstream at once. */
  close(): Promise<void> {
    this.#closed ??= this.#upstream.close();
    return this.#closed;
  }

  #closeWhenUnused(): void {
    if (!this.#onClosed || this.#held > 0) return;
    this.close().then(this.#onClosed, (error: unknown) => {
      this.#log.warn({ err: error, slot: this.id }, 'a replaced upstream could not be closed');
    });
  }

  /** Sends a call; after a 401, renews the credential if the account can, and retries once. */
  async #send<Kind extends keyof Answers>(kind: Kind, call: SlotCall): Promise<Answers[Kind]> {
    const upstream: Asked = this.#upstream;
    const credential = await this.account.credential(call.signal);
    try {
      return await upstream[kind](this.#credited(call, credential));
    } catch (error) {
      this.#observe(error);
      if (!isRefusal(error) || !(await this.account.renew(credential, call.signal)))
        throw withReset(error, this.#now());
    }
    try {
      return await upstream[kind](this.#credited(call, await this.account.credential(call.signal)));
    } catch (error) {
      this.#observe(error);
      throw withReset(error, this.#now());
    }
  }

  /**
   * Adds the credential to a call. Throws a refusal (401) if no HTTP header can contain it; then nothing is
   * sent.
   */
  #credited(call: SlotCall, credential: Credential): UpstreamCall {
    for (const name in credential)
      if (!isHeaderValue(credential[name] ?? '')) throw unsendable(this.id, this.accountKind);
    return credited(call, credential);
  }

  /** Reads the usage windows from an error, too. */
  #observe(error: unknown): void {
    if (isGatewayError(error) && error.failure?.kind === 'status')
      this.standing.gauge.read(error.failure.headers);
  }
}

interface Answers {
  readonly generate: UpstreamReply;
  readonly countTokens: TokenCount;
}

type Asked = { readonly [Kind in keyof Answers]: (call: UpstreamCall) => Promise<Answers[Kind]> };

/** Copies field by field: a spread would make the runtime look up each field in every call. */
function credited(call: SlotCall, credential: UpstreamCall['credential']): UpstreamCall {
  const { request, headers, search, signal, headersTimeoutMs, idleTimeoutMs, hasContent } = call;
  return hasContent
    ? { request, headers, search, signal, headersTimeoutMs, idleTimeoutMs, hasContent, credential }
    : { request, headers, search, signal, headersTimeoutMs, idleTimeoutMs, credential };
}

function unsendable(slot: string, kind: AccountKind): GatewayError {
  const what = kind === 'oauth' ? 'an access token' : 'a key';
  return new GatewayError(
    'no_slot_available',
    `Slot "${slot}" has ${what} with a line end or another character that no HTTP header can hold; enter it again.`,
    { failure: { kind: 'status', status: 401, headers: {} } },
  );
}

/** Adds `retry-after` to a 429 of an exhausted window, also if the upstream has left it out. */
function withReset(error: unknown, nowMs: number): unknown {
  if (!isGatewayError(error) || error.failure?.kind !== 'status' || error.failure.status !== 429)
    return error;
  const { untilMs } = exhaustion(error.failure.headers, nowMs) ?? {};
  if (untilMs === undefined) return error;
  return withHeaders(error, { 'retry-after': String(Math.ceil((untilMs - nowMs) / 1000)) });
}

function isRefusal(error: unknown): boolean {
  return isGatewayError(error) && error.failure?.kind === 'status' && error.failure.status === 401;
}
