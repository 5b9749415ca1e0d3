import type Koa from 'koa';
import type { Static, TSchema } from 'typebox';
import type { AuditedAction } from '../state/audit/audited-action.js';
import type { Actor, Role } from '../state/store/contract/actor.js';
import type { ConsoleSession } from '../plugin/core.js';
import type { Logger } from '../plugin/index.js';

/** Request state that the panel API reads. */
export interface PanelState {
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly requestId: string;
  /** Set once the caller is authenticated; by an open route, once it knows whose login it is. */
  actor?: Actor;
}

export type PanelContext = Koa.ParameterizedContext<PanelState, object>;

/** One checked request to a route. */
export interface Call<Query, Body> {
  /** `:id` of the path, decoded; empty if the path has none. */
  readonly id: string;
  readonly query: Query;
  /** Undefined where the route reads it by itself. */
  readonly body: Body;
  /** Reads the body, and checks it. Throws `invalid_request` and `request_too_large`. */
  readonly readBody: () => Promise<Body>;
  readonly actor: Actor;
  /** Undefined for the master key. */
  readonly session: ConsoleSession | undefined;
  /** Entry of the audit log that this call will be, where its route declares one. */
  readonly audit: AuditedAction;
  readonly ctx: PanelContext;
}

interface RouteParts<Query extends TSchema, Body extends TSchema> {
  /** Path below `/api/panel`. */
  readonly path: string;
  readonly summary: string;
  /** Open to callers without a credential. */
  readonly isOpen?: true;
  /** Role that a caller needs; default: viewers may call a GET, and only admins anything else. */
  readonly role?: Role;
  /** Schemas of closed objects: a parameter or field that they do not name is refused. */
  readonly query?: Query;
  readonly body?: Body;
  /** Schema of the body in the OpenAPI document, if `handle` checks more than `body` does. */
  readonly bodySchema?: object;
  /** True: `handle` calls `readBody` when it has a place for the body. */
  readonly readsBody?: true;
  /** Max bytes of the body; default 1 MB. */
  readonly maxBodyBytes?: number;
  /** Successful answers by status; null: no body. */
  readonly answers: Readonly<Record<number, TSchema | null>>;
  /** Log line of an audited call; default: that an operator has changed the gateway. */
  readonly noted?: string;
  /** True: `handle` sets status, type and body of the answer by itself, those of errors included. */
  readonly answersItself?: true;
  /** Content type of the answer if it is not JSON: `text/event-stream`. */
  readonly answerType?: string;
  /** Content type that a caller may ask for in its place. */
  readonly otherAnswerType?: string;
  /** Returns the body; undefined if there is none, or if it is set on the context already. */
  handle(call: Call<Static<Query>, Static<Body>>): unknown;
}

/**
 * One route of `/api/panel`, with the schemas that check its requests and describe it in the OpenAPI document. A
 * route that is no read declares the action that the audit log records of it: `key.create`.
 */
export type PanelRoute<Query extends TSchema = TSchema, Body extends TSchema = TSchema> = RouteParts<
  Query,
  Body
> &
  (
    | { readonly method: 'GET'; readonly audit?: string }
    | { readonly method: 'POST' | 'PATCH' | 'DELETE'; readonly audit: string }
  );

/** Defines a route, with `handle` typed by its schemas. */
export function route<Query extends TSchema, Body extends TSchema>(
  definition: PanelRoute<Query, Body>,
): PanelRoute {
  return definition;
}

/** Authenticated caller of the panel API. */
export type Caller = Pick<Call<unknown, unknown>, 'actor' | 'session'>;
