import type { Static, TSchema } from 'typebox';
import type { Clock } from '../../../kit/time/clock.js';
import type { CallSignal } from '../../../kit/call-signal.js';
import type { SchemaError } from '../../../kit/schema/schema-error.js';
import { defined, type DefinitionForm, type ApiLevel } from '../definition.js';
import type { Credential, HttpAnswer, HttpClient, OutgoingRequest } from './http-client.js';
import type { Logger } from '../telemetry.js';
import type { OAuthTokens } from '../store.js';
import { optionsOf, type SlotSettings } from './upstream.js';

/** Account of a slot at its upstream. */
export interface Account {
  /** Headers that prove the account, for one request; may wait for a refresh. */
  authorize(request: OutgoingRequest): Promise<Credential> | Credential;
  /** Renews the credential after an answer that refuses `refused`; true if there is another one to try. */
  refresh?(refused: Credential, signal: CallSignal, answer: RefusedAnswer): Promise<boolean>;
  /** True for an answer that refuses the credential rather than the request; absent: status 401. */
  isRefusal?(answer: RefusedAnswer): boolean;
  /** Connects, as `start` of an upstream does, and before that of its slot; `check` does not call it. */
  start?(): void | Promise<void>;
  /** Checks the dependencies of the account, for `check --online`; throws if it cannot do its work. */
  probe?(): void | Promise<void>;
  close?(): Promise<void>;
}

/** Head of an error answer, for the decision of an account. */
export type RefusedAnswer = Pick<HttpAnswer, 'status' | 'headers'>;

/** Rotating tokens of one account, in the store that all instances share. */
export interface TokenStore {
  /** True if the store must be read, or written again, before the tokens are used. */
  readonly hasUpdate: boolean;
  /** Tokens in the store; undefined if those known here are newer, or the store cannot be read. */
  read(): Promise<OAuthTokens | undefined>;
  /** Stores new tokens; if that fails, this instance uses them anyway and retries later. */
  put(tokens: OAuthTokens): Promise<void>;
  /**
   * Marks a refresh token as used, because no second instance may try it. Throws if another instance has
   * used it and the store does not have the result yet.
   */
  use(refreshToken: string): void;
  /** Removes the mark of a refresh token that was not accepted, or is not rotated. */
  reuse(refreshToken: string): void;
}

/** Services for the account of one slot. */
export interface AccountHost {
  readonly slot: Pick<SlotSettings, 'id'>;
  readonly log: Logger;
  /** Client for a URL of the account's own, over the slot's proxy; to be closed after use. */
  connect(baseUrl: string): HttpClient;
  /** Absolute path of a file that an option names, relative to the config file. */
  resolvePath(file: string): string;
  /**
   * Opens the store for tokens that descend from `origin`, a digest of the configured ones, and returns the stored
   * ones. `isRepeatable`: tokens may be granted at any time, so that `check --online` may request some.
   */
  tokens(
    origin: string,
    terms?: { readonly isRepeatable: boolean },
  ): Promise<readonly [TokenStore, OAuthTokens | undefined]>;
  /** Runs `work` in one instance at a time, for this slot; `signal` aborts if another one has taken over. */
  withLock<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result>;
  /** Unix milliseconds: `clock.now`. */
  readonly now: () => number;
  /** Time and timers of the gateway. */
  readonly clock: Clock;
  /** True in a dry run (`gw2api test`) with a simulated token endpoint: open no socket and no file of your own. */
  readonly dry: boolean;
}

export interface AccountDefinition<Options extends TSchema = TSchema> {
  /** The file's name and the `kind` in the config. */
  readonly name: string;
  /** JSON Schema of the keys beside `kind`; defaults are filled in, unknown keys are refused. */
  readonly options?: Options;
  /** Level of the plugin API that it was written for; another one than the gateway's is refused. */
  readonly api?: ApiLevel;
  /** The upstream reports usage windows of the account, so counts and `/v1/usage` answer with them. */
  readonly reports?: 'windows';
  /** Rules that the schema cannot express; called for options that have passed it. */
  check?(options: Static<Options>): readonly SchemaError[];
  /** Opens the account of a slot; opens no socket. */
  open(options: Static<Options>, host: AccountHost): Account | Promise<Account>;
}

/** Kind of account without its type parameter, as the gateway uses it. */
export interface AccountKind {
  readonly name: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly reports: 'windows' | undefined;
  readonly api?: ApiLevel;
  check(options: unknown): readonly SchemaError[];
  open(options: unknown, host: AccountHost): Account | Promise<Account>;
}

/** Defines a kind of account. Every object schema in `options` is closed unless it says otherwise. */
export function defineAccount<const Options extends TSchema = TSchema>(
  definition: AccountDefinition<Options>,
): AccountKind {
  return defined(accountForm, definition);
}

/** Form of the definition of an account. */
export const accountForm: DefinitionForm<object & { name: string; open: unknown }, AccountKind> = {
  kind: 'account',
  fields: {
    name: true,
    options: true,
    api: true,
    reports: true,
    check: true,
    open: true,
  } as const satisfies Record<keyof AccountDefinition, true>,
  normalize(definition) {
    const given = definition as Partial<AccountKind> & Pick<AccountKind, 'name' | 'open'>; // checked by the loader
    return {
      name: given.name,
      options: optionsOf(given.options),
      reports: given.reports,
      ...(given.api && { api: given.api }),
      check: (options) => given.check?.(options) ?? [],
      open: (options, host) => given.open(options, host),
    };
  },
};
