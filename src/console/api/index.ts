import { Router } from '@koa/router';
import type { TSchema } from 'typebox';
import { Closed, GatewayError } from '../../plugin/internal.js';
import { isRead, nobody, requireRole } from './actor.js';
import { checkOf, readQuery } from './check.js';
import { KeyNames } from './key-names.js';
import { explainRoute } from './explain.js';
import { keyRoutes, type IssueKey } from './keys.js';
import { overviewRoutes } from './overview.js';
import type { Panel } from './panel.js';
import { OidcLogin } from './people/oidc-login.js';
import { oidcRoutes } from './people/oidc-routes.js';
import { sessionListRoutes } from './people/session-list.js';
import { readBody } from './json.js';
import { pipelineRoute } from './pipeline.js';
import { reloadRoutes } from './reload.js';
import { requestRoutes } from './requests.js';
import type { Caller, PanelContext, PanelRoute, PanelState } from './route.js';
import { sessionRoutes } from './session-routes.js';
import { Sessions } from './sessions.js';
import { slotKindsRoute } from './slot-kinds.js';
import { slotRoutes } from './slots.js';
import { teamRoutes } from './teams.js';
import { usageRoute } from './usage.js';

export type {
  Panel,
  PanelField,
  PanelPipeline,
  PanelSlot,
  PanelSlotField,
  PanelSlotKind,
  PanelSlotKinds,
  PanelSlots,
  PanelStatus,
} from './panel.js';
export type { PanelRoute } from './route.js';

export interface PanelApi {
  readonly router: Router<PanelState, object>;
  /** Route definitions, for the OpenAPI document. */
  readonly routes: readonly PanelRoute[];
  /** Authenticates a caller for the routes that are not open. Throws 401, 403 or `store_unavailable`. */
  readonly authenticate: (ctx: PanelContext) => Promise<Caller>;
}

/** The panel API at `/api/panel/*`. */
export function createPanelApi(panel: Panel, issueKey: IssueKey): PanelApi {
  const sessions = new Sessions(panel);
  const oidc = new OidcLogin(panel, sessions);
  const names = new KeyNames(panel.store.keys, panel.now);
  const routes = [
    ...sessionRoutes(sessions, oidc),
    ...oidcRoutes(panel, oidc),
    ...sessionListRoutes(panel, sessions),
    ...overviewRoutes(panel),
    pipelineRoute(panel),
    ...reloadRoutes(panel),
    explainRoute(panel),
    ...keyRoutes(panel, names, issueKey),
    ...teamRoutes(panel, names),
    ...slotRoutes(panel),
    slotKindsRoute(panel),
    usageRoute(panel, names),
    ...requestRoutes(panel, names, sessions),
  ];
  const router = new Router<PanelState, object>({ prefix: panelPrefix });
  for (const each of routes) router.register(each.path, [each.method], answer(each, sessions));
  return { router, routes, authenticate: (ctx) => sessions.authenticate(ctx) };
}

export const panelPrefix = '/api/panel';

/** Handler of a route: checks the request by the route's schemas and sends the result as the answer. */
function answer(definition: PanelRoute, sessions: Sessions): (ctx: PanelContext) => Promise<void> {
  const { isOpen, query = nothing, body, readsBody, maxBodyBytes = 1024 * 1024, answers } = definition;
  const checkQuery = checkOf(query);
  const checkBody = body && checkOf(body);
  return async (ctx) => {
    if (isOpen && !isRead(ctx.method)) await sessions.admit(ctx);
    const caller = isOpen ? stranger : await sessions.authenticate(ctx);
    if (!isOpen) requireRole(caller.actor, definition);
    const id = idOf(ctx);
    const parameters = readQuery(ctx.querystring, query);
    checkQuery(parameters);
    const read = async (): Promise<unknown> => {
      const sent = await readBody(ctx, maxBodyBytes);
      checkBody?.(sent);
      return sent;
    };
    const sent = body && !readsBody ? await read() : undefined;
    const given = await definition.handle({
      id,
      query: parameters,
      body: sent,
      readBody: read,
      ...caller,
      ctx,
    });
    if (definition.answersItself) return;
    ctx.status = statusOf(answers, given);
    if (given !== undefined) ctx.body = given;
    if (!isRead(ctx.method)) note(ctx, definition, id);
  };
}

const nothing: TSchema = Closed({});
const stranger: Caller = { actor: nobody, session: undefined };

/**
 * Status of the answer: of the route's own statuses, the one with a body or, if `given` is undefined, the one
 * without.
 */
function statusOf(answers: PanelRoute['answers'], given: unknown): number {
  const [status] =
    Object.entries(answers).find(([, schema]) => (schema === null) === (given === undefined)) ?? [];
  return Number(status ?? 200);
}

/**
 * `:id` of the path. Throws `not_found` for control characters and overlong ids: no id has them, and
 * databases refuse them.
 */
function idOf(ctx: PanelContext): string {
  const { params } = ctx as PanelContext & { params?: Readonly<Record<string, string>> }; // set by the router
  const id = params?.['id'] ?? '';
  if (/\p{Cc}/u.test(id) || id.length > maxIdLength)
    throw new GatewayError('not_found', `There is nothing at ${ctx.path}.`);
  return id;
}

const maxIdLength = 300;

function note(
  ctx: PanelContext,
  { method, path, noted = 'An operator has changed the gateway.' }: PanelRoute,
  id: string,
): void {
  const { kind, name } = ctx.state.actor ?? nobody;
  const fields = { by: kind, name, what: `${method} ${path}`, ...(id && { target: id }) };
  ctx.state.log.info(fields, noted);
}
