import type Koa from 'koa';
import type { Static, TSchema } from 'typebox';
import type { AuditedAction } from '../state/audit/audited-action.js';
import type { Actor, Role } from '../state/store/contract/actor.js';
import type { ConsoleSession } from '../state/store/contract/store.js';
import type { Logger } from '../plugin/index.js';
import type { AdminScope } from './access/scopes.js';

/** Request state that routes for operators read. */
export interface OperatorState {
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly requestId: string;
  /** Set once the caller is authenticated; by an open route, once the person of the login is known. */
  actor?: Actor;
}

export type OperatorContext = Koa.ParameterizedContext<OperatorState, object>;

/** One checked request to a route. */
export interface Call<Query, Body> {
  /** `:id` of the path, decoded; empty if the path has none. */
  readonly id: string;
  /** Empty in a route of `/admin`, which reads the context's own. */
  readonly query: Query;
  /** Undefined if the route itself reads it. */
  readonly body: Body;
  /** Reads the body, and checks it. Throws `invalid_request` and `request_too_large`. */
  readonly readBody: () => Promise<Body>;
  readonly actor: Actor;
  /** Undefined for the master key and admin tokens. */
  readonly session: ConsoleSession | undefined;
  /** Entry of the audit log for this call, if its route declares one. */
  readonly audit: AuditedAction;
  readonly ctx: OperatorContext;
}

interface RouteParts<Query extends TSchema, Body extends TSchema> {
  /** Path from the root: `/api/panel/keys/:id`. */
  readonly path: string;
  readonly summary: string;
  /**
   * Schemas of closed objects: a parameter or field that they do not name is refused. The query of a route of `/admin` is
   * described, and not checked.
   */
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
  /** True: `handle` sets status, type and body of the answer itself, including those of errors. */
  readonly answersItself?: true;
  /** Content type of the answer if it is not JSON: `text/event-stream`. */
  readonly answerType?: string;
  /** Content type that a caller may ask for in its place. */
  readonly otherAnswerType?: string;
  /** Returns the body; undefined if there is none, or if it is set on the context already. */
  handle(call: Call<Static<Query>, Static<Body>>): unknown;
}

/** Callers that a route admits: admin tokens with its scope, people with its role, or everyone. */
type Access =
  | { readonly scope: AdminScope; readonly role?: never; readonly isOpen?: never }
  | {
      readonly scope?: never;
      /** Default: viewers may call a GET, and only admins anything else. */
      readonly role?: Role;
      readonly isOpen?: never;
    }
  | { readonly scope?: never; readonly role?: never; readonly isOpen: true };

/**
 * One route for operators, of `/admin` or of `/api/panel`, with the schemas that describe it in the OpenAPI document. A
 * route with changes declares its action for the audit log: `key.create`.
 */
export type Route<Query extends TSchema = TSchema, Body extends TSchema = TSchema> = RouteParts<Query, Body> &
  Access &
  (
    | { readonly method: 'GET'; readonly audit?: string }
    | { readonly method: 'POST' | 'PATCH' | 'DELETE'; readonly audit: string }
  );

/** Defines a route, with `handle` typed by its schemas. */
export function route<Query extends TSchema, Body extends TSchema>(definition: Route<Query, Body>): Route {
  return definition;
}

/** Authenticated caller of a route. */
export type Caller = Pick<Call<unknown, unknown>, 'actor' | 'session'>;
