import type Koa from 'koa';
import type { TSchema } from 'typebox';
import type { AuditedAction } from '../state/audit/audited-action.js';
import type { Actor } from '../state/store/contract/actor.js';
import type { Logger } from '../plugin/index.js';
import type { Operations } from '../features/pipeline/operations.js';
import type { AdminScope } from './access/scopes.js';

/** Request state that `/admin/*` reads and sets. */
export interface AdminState {
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly requestId: string;
  actor?: Actor;
}

export type AdminContext = Koa.ParameterizedContext<AdminState, object>;

/** A request to a route, whose caller has been admitted. */
export interface AdminCall {
  /** `:id` of the path, decoded; empty if the path has none. */
  readonly id: string;
  readonly ctx: AdminContext;
  readonly operations: Operations;
  /** Entry of the audit log that this call will be; of a read, none. */
  readonly audit: AuditedAction;
}

interface RouteParts {
  /** Path below `/admin`. */
  readonly path: string;
  readonly summary: string;
  /** Scope that an admin token needs. */
  readonly scope: AdminScope;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** Schema of the answer. */
  readonly answer: TSchema;
  handle(call: AdminCall): unknown;
}

/** One route of `/admin`. A route that may change something says which action the audit log records. */
export type AdminRoute = RouteParts &
  (
    | { readonly method: 'GET' }
    | {
        readonly method: 'POST';
        readonly audit: string;
        /** Log line of an action that is done; default: that the gateway was changed. */
        readonly noted?: string;
      }
  );
