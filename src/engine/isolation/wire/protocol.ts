import type { Operation, PlacedExtras } from '../../../plugin/index.js';

// What a gateway and its child processes send each other. The child is of the same version, but runs code of others:
// the gateway checks each part of it that it reads.

/** The link to the gateway, as the parts of a child use it. */
export interface GatewayPort {
  call(method: string, params: unknown): Promise<unknown>;
  note(method: string, params: unknown, mayWait?: boolean): void;
}

/** Request of a caller, as a stage in a child process sees it. */
export interface WireContext {
  readonly method: string;
  readonly path: string;
  readonly querystring: string;
  /** Without those that have a credential. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly requestId: string;
  readonly operation: Operation;
  readonly format: string;
  readonly pipeline: string;
}

/** Messages request with its extras, which JSON does not show. */
export interface WireRequest {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly extras?: readonly PlacedExtras[];
}

/** Changed fields of a request; in a list the number of an item stands for that item of the list before. */
export interface WireRequestChange extends WireRequest {
  readonly removed: readonly string[];
}

/** Reply of a model, with the number of its stream. */
export interface WireReply {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly stream: number;
}

/** Reply of a stage. */
export interface WireReplyChange {
  /** Stream of the reply that it was made of; absent: none. */
  readonly of?: number;
  readonly fields: Readonly<Record<string, unknown>>;
  /** A stream of the gateway that goes on as it is, or a new one of the child. */
  readonly events: { readonly same: number } | { readonly made: number };
}

/** State keys of a request. */
export interface WireState {
  readonly values: Readonly<Record<string, unknown>>;
  readonly request?: WireRequest;
  readonly reply?: WireReply;
}

export interface WireStateChange {
  readonly values: Readonly<Record<string, unknown>>;
  readonly request?: WireRequestChange;
  readonly reply?: WireReplyChange;
  /** Headers of the answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** True if it waits for the outcome of the request. */
  readonly listens: boolean;
}

/** Start of a stage in a request. */
export interface EnterParams {
  readonly instance: number;
  readonly request: number;
  readonly ctx: WireContext;
  readonly state: WireState;
}

/** Call of the model in a request; `ctx` and `state` if the child does not know the request yet. */
export interface InterceptParams {
  readonly instance: number;
  readonly request: number;
  readonly run: number;
  readonly part: 'intercept' | 'outermost';
  /** Absent: the request that the child knows. */
  readonly given?: WireRequest;
  readonly ctx?: WireContext;
  readonly state?: WireState;
}

/** Facts of the gateway for the host of a stage. */
export interface WireHost {
  readonly name: string;
  readonly isLocal: boolean;
  readonly dry: boolean;
  readonly baseDir: string;
  readonly models: readonly unknown[];
  readonly listed: readonly unknown[];
  readonly time: WireTime;
}

/** Unix and monotonic milliseconds of the gateway's clock. */
export type WireTime = readonly [now: number, monotonic: number];

export interface SetupParams {
  readonly instance: number;
  readonly options: unknown;
  readonly host: WireHost;
}

/** State key of the core that a stage in a child process has. */
export type WireCoreKey = 'requestId' | 'operation' | 'format' | 'signal' | 'log' | 'onSettled' | 'trace';

/** Fields of a reply that are JSON. */
export const wireReplyFields = [
  'status',
  'headers',
  'model',
  'upstreamModel',
  'slot',
  'attempts',
  'leftOut',
  'addedTokens',
] as const;

/** Number of events that are remembered after the child has seen them, so that it can send them back by number, once. */
export const rememberedEvents = 128;
