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

/** An opened upstream with the account it is asked in the name of. A reload may put another one in its place. */
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

  /** Never throws for what is wrong with the account: that is a step that failed. */
  async diagnose(signal: AbortSignal): Promise<readonly DiagnosisStep[]> {
    const credential = await this.account.credential(signal).catch(toGatewayError);
    if (!isGatewayError(credential)) return this.#upstream.diagnose(signal, credential);
    const steps = await this.#upstream.diagnose(signal, {});
    return [...steps, { step: 'credential', ok: false, ms: 0, detail: credential.message }];
  }

  /** False for the kinds of upstream that have no list of models. */
  get listsModels(): boolean {
    return this.#upstream.models !== undefined;
  }

  /** The models that the account may use, the newest first. Throws as a call does. */
  async listModels(signal: AbortSignal): Promise<readonly ListedModel[]> {
    const credential = await this.account.credential(signal);
    return (await this.#upstream.models?.({ credential, signal })) ?? [];
  }

  /** Somebody is using it: it will not be closed before `letGo`. */
  hold(): void {
    this.#held += 1;
  }

  letGo(): void {
    this.#held -= 1;
    this.#closeWhenUnused();
  }

  /** Closes it once nobody holds it, and then calls `onClosed`. */
  retire(onClosed: () => void): void {
    this.#onClosed = onClosed;
    this.#closeWhenUnused();
  }

  /** Closes it now. */
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

  /** A 401 to an account that can renew its credential costs one more try. */
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

  /** Throws what is a refusal of the credential where no header can hold it: nothing goes out then. */
  #credited(call: SlotCall, credential: Credential): UpstreamCall {
    for (const name in credential)
      if (!isHeaderValue(credential[name] ?? '')) throw unsendable(this.id, this.accountKind);
    return credited(call, credential);
  }

  /** Errors report the windows too. */
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

/** Field by field: a spread asks the runtime for each of them, for every call. */
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

/** A 429 of an exhausted window says when that opens, also where the upstream has left `retry-after` out. */
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
