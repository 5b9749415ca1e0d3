import { Router } from '@koa/router';
import type { TSchema } from 'typebox';
import { GatewayError } from '../../plugin/index.js';
import { checkOf, readQuery } from './check.js';
import { KeyNames } from './key-names.js';
import { keyRoutes, type IssueKey } from './keys.js';
import { overviewRoutes } from './overview.js';
import type { Panel } from './panel.js';
import { readBody } from './request-body.js';
import { requestRoutes } from './requests.js';
import type { PanelContext, PanelRoute, PanelState } from './route.js';
import { Closed } from './schemas.js';
import { sessionRoutes } from './session-routes.js';
import { Sessions } from './sessions.js';
import type { Credential } from './credential.js';
import { slotRoutes } from './slots.js';
import { usageRoute } from './usage.js';

export type { Panel, PanelSlot, PanelSlots, PanelStatus } from './panel.js';
export type { PanelRoute } from './route.js';

export interface PanelApi {
  readonly router: Router<PanelState, object>;
  /** What the routes are made of, for the OpenAPI document. */
  readonly routes: readonly PanelRoute[];
  /** Throws what keeps this caller from every route but the open ones. */
  readonly authenticate: (ctx: PanelContext) => Promise<Credential>;
}

/** `/api/panel/*`. */
export function createPanelApi(panel: Panel, issueKey: IssueKey): PanelApi {
  const sessions = new Sessions(panel);
  const names = new KeyNames(panel.store.keys, panel.now);
  const routes = [
    ...sessionRoutes(sessions),
    ...overviewRoutes(panel),
    ...keyRoutes(panel, names, issueKey),
    ...slotRoutes(panel),
    usageRoute(panel, names),
    ...requestRoutes(panel, names, sessions),
  ];
  const router = new Router<PanelState, object>({ prefix: panelPrefix });
  for (const each of routes) router.register(each.path, [each.method], answer(each, sessions));
  return { router, routes, authenticate: (ctx) => sessions.authenticate(ctx) };
}

export const panelPrefix = '/api/panel';

/** Checks a request by its route's schemas, and makes what the route gives the answer. */
function answer(definition: PanelRoute, sessions: Sessions): (ctx: PanelContext) => Promise<void> {
  const { isOpen, query = nothing, body, maxBodyBytes = 1024 * 1024, answers } = definition;
  const checkQuery = checkOf(query);
  const checkBody = body && checkOf(body);
  return async (ctx) => {
    if (isOpen) await sessions.admit(ctx);
    const credential: Credential = isOpen ? { kind: 'master' } : await sessions.authenticate(ctx);
    const id = idOf(ctx);
    const parameters = readQuery(ctx.querystring, query);
    checkQuery(parameters);
    const sent = body && (await readBody(ctx, maxBodyBytes));
    checkBody?.(sent);
    const given = await definition.handle({ id, query: parameters, body: sent, credential, ctx });
    ctx.status = statusOf(answers, given);
    if (given !== undefined) ctx.body = given;
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') note(ctx, definition, { id, by: credential.kind });
  };
}

const nothing: TSchema = Closed({});

/** Of a route's own statuses the one without a body where there is none. */
function statusOf(answers: PanelRoute['answers'], given: unknown): number {
  const [status] =
    Object.entries(answers).find(([, schema]) => (schema === null) === (given === undefined)) ?? [];
  return Number(status ?? 200);
}

/** No id of ours has characters that no database takes. */
function idOf(ctx: PanelContext): string {
  const { params } = ctx as PanelContext & { params?: Readonly<Record<string, string>> }; // set by the router
  const id = params?.['id'] ?? '';
  if (/\p{Cc}/u.test(id) || id.length > longestId)
    throw new GatewayError('not_found', `There is nothing at ${ctx.path}.`);
  return id;
}

const longestId = 300;

function note(
  ctx: PanelContext,
  { method, path, isOpen }: PanelRoute,
  who: { id: string; by: string },
): void {
  const fields = {
    by: isOpen ? 'login' : who.by,
    what: `${method} ${path}`,
    ...(who.id && { target: who.id }),
  };
  ctx.state.log.info(fields, 'An operator has acted.');
}
