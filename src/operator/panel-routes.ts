import { Router } from '@koa/router';
import { adminTokenRoutes, type IssueAdminToken } from '../features/tokens/admin-tokens.js';
import { answer } from './answer.js';
import { auditRoutes } from '../features/audit/audit.js';
import { Names } from './names.js';
import { explainRoute } from '../features/explain/panel.js';
import { keyRoutes, type KeyMaker } from '../features/keys/keys.js';
import { overviewRoutes } from './status.js';
import type { Panel } from '../features/slots/panel-slots.js';
import { OidcLogin } from '../features/login/oidc-login.js';
import { oidcRoutes } from '../features/login/oidc-routes.js';
import { sessionListRoutes } from '../features/login/session-list.js';
import { pipelineRoute } from '../features/pipeline/panel.js';
import { reloadRoutes } from '../features/pipeline/reload-panel.js';
import { requestRoutes } from '../features/requests/requests.js';
import type { Caller, PanelContext, PanelRoute, PanelState } from './route.js';
import { sessionRoutes } from '../features/login/session-routes.js';
import { Sessions } from './access/sessions.js';
import { slotKindsRoute } from '../features/slots/slot-kinds.js';
import { playgroundRoute } from '../features/playground/panel.js';
import { slotRoutes } from '../features/slots/slots.js';
import { teamRoutes } from '../features/keys/teams.js';
import { usageRoute } from '../features/usage/usage.js';

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
} from '../features/slots/panel-slots.js';
export type { PanelRoute } from './route.js';

export interface PanelApi {
  readonly router: Router<PanelState, object>;
  /** Route definitions, for the OpenAPI document. */
  readonly routes: readonly PanelRoute[];
  /** Authenticates a caller for the routes that are not open. Throws 401, 403 or `store_unavailable`. */
  readonly authenticate: (ctx: PanelContext) => Promise<Caller>;
}

/** The panel API at `/api/panel/*`. */
export function createPanelApi(
  panel: Panel,
  issue: { readonly keys: KeyMaker; readonly adminToken: IssueAdminToken },
): PanelApi {
  const sessions = new Sessions(panel);
  const oidc = new OidcLogin(panel, sessions);
  const names = new Names(panel.store, panel.now);
  const routes = [
    ...sessionRoutes(sessions, oidc),
    ...oidcRoutes(panel, oidc),
    ...sessionListRoutes(panel, sessions),
    ...overviewRoutes(panel),
    pipelineRoute(panel),
    ...reloadRoutes(panel),
    explainRoute(panel),
    playgroundRoute(panel, names),
    ...keyRoutes(panel, names, issue.keys),
    ...teamRoutes(panel, names),
    ...adminTokenRoutes(panel, issue.adminToken),
    ...auditRoutes(panel),
    ...slotRoutes(panel),
    slotKindsRoute(panel),
    usageRoute(panel, names),
    ...requestRoutes(panel, names, sessions),
  ];
  const router = new Router<PanelState, object>({ prefix: panelPrefix });
  for (const each of routes)
    router.register(each.path, [each.method], answer(each, { sessions, audit: panel.audit }));
  return { router, routes, authenticate: (ctx) => sessions.authenticate(ctx) };
}

export const panelPrefix = '/api/panel';
