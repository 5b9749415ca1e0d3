import type { Static, TSchema } from 'typebox';
import type Koa from 'koa';
import type { CallSignal, Logger } from '../../plugin/index.js';
import type { Credential } from './credential.js';

/** What the panel reads of a request's state. */
export interface PanelState {
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly callSignal: CallSignal;
}

export type PanelContext = Koa.ParameterizedContext<PanelState, object>;

/** One request to a route, checked. */
export interface Call<Query, Body> {
  /** `:id` of the path, decoded; empty where it has none. */
  readonly id: string;
  readonly query: Query;
  readonly body: Body;
  readonly credential: Credential;
  readonly ctx: PanelContext;
}

/** One route of `/api/panel`: what checks its requests and describes it in the OpenAPI document. */
export interface PanelRoute<Query extends TSchema = TSchema, Body extends TSchema = TSchema> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below `/api/panel`. */
  readonly path: string;
  readonly summary: string;
  /** Who has no credential may call it too. */
  readonly isOpen?: true;
  /** Closed objects; a parameter or body that no schema tells of is refused. */
  readonly query?: Query;
  readonly body?: Body;
  /** What describes the body to others where `handle` checks more than `body` does. */
  readonly bodySchema?: object;
  /** The most bytes of a body; default 1 MB. */
  readonly maxBodyBytes?: number;
  /** The answers that are no errors, by status; null: it has no body. */
  readonly answers: Readonly<Record<number, TSchema | null>>;
  /** `text/event-stream` where it is not JSON. */
  readonly answerType?: string;
  /** Gives the body; undefined: there is none, or the context has it already. */
  handle(call: Call<Static<Query>, Static<Body>>): unknown;
}

/** A route whose `handle` knows what its schemas let through. */
export function route<Query extends TSchema, Body extends TSchema>(
  definition: PanelRoute<Query, Body>,
): PanelRoute {
  return definition;
}
