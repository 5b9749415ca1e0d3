import type { Static, TSchema } from 'typebox';
import type { Clock } from '../../../kit/time/clock.js';
import { closeObjects } from '../../../kit/schema/type.js';
import type { SchemaError } from '../../../kit/schema/schema-error.js';
import { defined, type DefinitionForm, type ApiLevel } from '../definition.js';
import type { HttpClient, RequestTerms } from './http-client.js';
import type { Logger } from '../telemetry.js';
import type { TlsSettings } from './tls.js';
import type { ModelProfile } from '../models.js';
import type { GatewayError } from '../error.js';
import type { DiagnosisStep, RefusedPart, SlotCall, TokenCount, UpstreamReply } from './slot.js';

/** Call of a slot, with the proof of its account for the request that the upstream sends. */
export interface UpstreamCall extends SlotCall {
  readonly authorize: NonNullable<RequestTerms['authorize']>;
}

/** Query to an upstream outside any caller's request. */
export interface UpstreamQuery {
  readonly signal: AbortSignal;
  readonly authorize: UpstreamCall['authorize'];
}

/** A model as an upstream lists it. */
export interface ListedModel extends ModelProfile {
  readonly id: string;
  /** Further names that callers may use for it, such as the one without a region; absent: none. */
  readonly aliases?: readonly string[];
}

/** Open upstream of a slot. Calls throw a `GatewayError` whose `failure` describes the problem. */
export interface Upstream {
  /** Resolves when the answer begins. */
  generate(call: UpstreamCall): Promise<UpstreamReply>;
  /** Absent: the gateway estimates. */
  countTokens?: ((call: UpstreamCall) => Promise<TokenCount>) | undefined;
  /**
   * Part of a call, refused with 400 or 422, that the gateway added or translated, and that another call can omit: it
   * is made on the same lease, with the part in `call.without`. Undefined: the caller gets the refusal.
   */
  refused?: ((error: GatewayError, call: SlotCall) => RefusedPart | undefined) | undefined;
  /** Models that the account may use, newest first; absent if this kind of upstream has no list of them. */
  models?: ((query: UpstreamQuery) => Promise<readonly ListedModel[]>) | undefined;
  /** Models that `models: discover` serves instead of a list, of a kind that has none; newest first. */
  readonly knownModels?: readonly ListedModel[] | undefined;
  /**
   * Connects, once all slots and stages are set up and before the slot takes calls; its error is a problem of the
   * config. `check` does not call it.
   */
  start?: (() => void | Promise<void>) | undefined;
  /**
   * Checks whether the account is accepted again after a refusal, by a free request; throws if it is not. Absent: a
   * token count, and without that the next request.
   */
  probe?: ((query: UpstreamQuery) => Promise<void>) | undefined;
  /** Absent: `http.diagnose` without a check of the account. */
  diagnose?: ((query: UpstreamQuery) => Promise<readonly DiagnosisStep[]>) | undefined;
  /** Called when the slot no longer needs it; the gateway closes `host.http` itself. */
  close?(): Promise<void>;
}

/** Settings of a slot that the gateway itself applies. */
export interface SlotSettings {
  readonly id: string;
  /** Without a trailing slash. */
  readonly baseUrl?: string;
  /** The slot's own proxy, `http://user:pass@host:port`. */
  readonly proxy?: string;
  /** TLS of the connections to its upstream, instead of the usual one. */
  readonly tls?: TlsSettings;
  /** Added to every request of the slot. */
  readonly headers: Readonly<Record<string, string>>;
  readonly connectTimeoutMs: number;
  /** True for a slot entered in the console: it must not connect to link-local and metadata addresses. */
  readonly isGuarded?: boolean;
  readonly maxConcurrent: number;
}

/** Services for the upstream of one slot. */
export interface UpstreamHost {
  readonly slot: SlotSettings;
  readonly log: Logger;
  /** Client for the slot's `baseUrl`; `send` throws without one. */
  readonly http: HttpClient;
  readonly upstreams: {
    /** Opens another kind of upstream for this slot, with some of its settings replaced. */
    open(use: string, changes: UpstreamChanges): Promise<Upstream>;
  };
  /** Unix milliseconds: `clock.now`. */
  readonly now: () => number;
  /** Time and timers of the gateway. */
  readonly clock: Clock;
  /** True in a dry run (`gw2api test`), where `http` reaches a simulator: open no socket and no file of your own. */
  readonly dry: boolean;
}

/** Settings and options for an upstream that is opened by another one. */
export interface UpstreamChanges {
  readonly with?: Readonly<Record<string, unknown>>;
  readonly baseUrl?: string;
  /** Undefined: none. */
  readonly proxy?: string | undefined;
}

export interface UpstreamDefinition<Options extends TSchema = TSchema> {
  /** The file's name and the name in the config. */
  readonly name: string;
  /** JSON Schema of the slot's `with:`; defaults are filled in, unknown options are refused. */
  readonly options?: Options;
  /** Level of the plugin API that it was written for; another one than the gateway's is refused. */
  readonly api?: ApiLevel;
  /** Keys of the slot that this upstream requires. */
  readonly needs?: readonly ('baseUrl' | 'account')[];
  /** Paths that its calls add to the base URL, which must not end in one of them: `/v1/messages`. */
  readonly adds?: readonly string[];
  /** Kinds of account that fit; default any. */
  readonly accounts?: readonly string[];
  /** Rules that the schema cannot express; called for options that have passed it. */
  check?(options: Static<Options>): readonly SchemaError[];
  /** Base URL of a slot that has none, from options such as a region; undefined: the slot needs its own. */
  baseUrl?(options: Static<Options>): string | undefined;
  /**
   * Answers in place of the service in a dry run (`gw2api test`), in its wire protocol, with the answers of `messages`
   * to the equivalent Messages requests; passes on errors and broken bodies. Absent: for a service that uses Messages
   * itself.
   */
  standIn?(request: Request, messages: (request: Request) => Promise<Response>): Promise<Response>;
  /** Opens the upstream of a slot; opens no socket. An error thrown here is a problem of the slot. */
  open(options: Static<Options>, host: UpstreamHost): Upstream | Promise<Upstream>;
}

/** Kind of upstream without its type parameter, as the gateway uses it. */
export interface UpstreamKind {
  readonly name: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly needs: readonly ('baseUrl' | 'account')[];
  readonly adds: readonly string[];
  readonly accounts: readonly string[] | undefined;
  readonly api?: ApiLevel;
  check(options: unknown): readonly SchemaError[];
  baseUrl(options: unknown): string | undefined;
  readonly standIn?: UpstreamDefinition['standIn'];
  open(options: unknown, host: UpstreamHost): Upstream | Promise<Upstream>;
}

/** Defines a kind of upstream. Every object schema in `options` is closed unless it says otherwise. */
export function defineUpstream<const Options extends TSchema = TSchema>(
  definition: UpstreamDefinition<Options>,
): UpstreamKind {
  return defined(upstreamForm, definition);
}

/** Form of the definition of an upstream. */
export const upstreamForm: DefinitionForm<object & { name: string; open: unknown }, UpstreamKind> = {
  kind: 'upstream',
  fields: {
    name: true,
    options: true,
    api: true,
    needs: true,
    adds: true,
    accounts: true,
    check: true,
    baseUrl: true,
    standIn: true,
    open: true,
  } as const satisfies Record<keyof UpstreamDefinition, true>,
  normalize(definition) {
    const given = definition as Partial<UpstreamKind> & Pick<UpstreamKind, 'name' | 'open'>; // checked by the loader
    return {
      name: given.name,
      options: optionsOf(given.options),
      needs: given.needs ?? [],
      adds: given.adds ?? [],
      accounts: given.accounts,
      ...(given.api && { api: given.api }),
      ...(given.standIn && { standIn: given.standIn }),
      check: (options) => given.check?.(options) ?? [],
      baseUrl: (options) => given.baseUrl?.(options),
      open: (options, host) => given.open(options, host),
    };
  },
};

/** Closed schema of a definition's options; without one there are none. */
export function optionsOf(schema: object = { type: 'object', properties: {} }): UpstreamKind['options'] {
  return closeObjects(schema) as UpstreamKind['options']; // the copy of an object is an object
}
