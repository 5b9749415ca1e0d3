import { Router } from '@koa/router';
import { adminTokenRoutes, type IssueAdminToken } from './admin-tokens.js';
import { answer } from './answer.js';
import { auditRoutes } from './audit.js';
import { Names } from './names.js';
import { explainRoute } from './explain.js';
import { keyRoutes, type KeyMaker } from './keys.js';
import { overviewRoutes } from './overview.js';
import type { Panel } from './panel.js';
import { OidcLogin } from './people/oidc-login.js';
import { oidcRoutes } from './people/oidc-routes.js';
import { sessionListRoutes } from './people/session-list.js';
import { pipelineRoute } from './pipeline.js';
import { reloadRoutes } from './reload.js';
import { requestRoutes } from './requests.js';
import type { Caller, PanelContext, PanelRoute, PanelState } from './route.js';
import { sessionRoutes } from './session-routes.js';
import { Sessions } from './sessions.js';
import { slotKindsRoute } from './slot-kinds.js';
import { playgroundRoute } from './playground.js';
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
