import type Koa from 'koa';
import type { Caller } from './caller.js';
import type { StageContext, Operation } from './state.js';

/** Methods of routes. */
export const routeMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export type RouteMethod = (typeof routeMethods)[number];

/** Description of a route in words and JSON Schemas. */
export interface RouteDescription {
  readonly summary: string;
  readonly query?: object;
  /** Request body of a route that a handler answers. */
  readonly body?: object;
  /** Answers by status; default: 200 with any body, for a token count with `input_tokens` or the usage windows. */
  readonly answers?: Readonly<Record<number, object>>;
  /** Content types of the answer; default JSON, and server-sent events if the model is called. */
  readonly answerTypes?: readonly string[];
}

/** A path of a format or of a stage. */
export interface RoutePath {
  readonly method: RouteMethod;
  /** In the syntax of @koa/router: `{/v1}/messages`, `/v1beta/models/:model\\:generateContent`. */
  readonly path: string;
  /** The route in `/openapi.json`; absent: left out. */
  readonly openapi?: RouteDescription;
}

/** Parts of a request to a route of a stage. */
export interface RouteRequest {
  /** Parameters of the path, decoded. */
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly query: URLSearchParams;
  /** Undefined if the route takes requests without a caller. */
  readonly caller: Caller | undefined;
}

/** A path of a stage that it answers itself. */
export interface HandledRoute extends RoutePath {
  readonly operation?: 'route';
  /**
   * Permitted callers. `caller` (default): those that `auth` admits; `master`: the master key, and a session of the
   * console; `none`: everybody, without the stages.
   */
  readonly auth?: 'caller' | 'master' | 'none';
  handle(ctx: StageContext<never, never>, request: RouteRequest): void | Promise<void>;
  /** Title of a page in the console, which shows this route in a frame; for GET, without parameters. */
  readonly page?: string;
}

/** A further path of a format, whose requests pass the stages. */
export interface FormatPath extends RoutePath {
  readonly operation: 'generate' | 'count-tokens';
  readonly format: string;
}

/** A path that a stage brings. */
export type StageRoute = HandledRoute | FormatPath;

/** A path of a stage as the gateway serves it. */
export interface ServedRoute extends RoutePath {
  /** Name of the stage. */
  readonly stage: string;
  readonly operation: Operation;
  readonly auth: 'caller' | 'master' | 'none';
  /** Format of requests to this path. */
  readonly format: string | undefined;
  readonly page: string | undefined;
  /** Undefined if the stages answer. */
  readonly handler: Koa.Middleware | undefined;
}
