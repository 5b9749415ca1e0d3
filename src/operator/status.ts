import { samplingOf } from '../plugin/format/index.js';
import { Type, type CatalogModel } from '../plugin/index.js';
import type { Panel, PanelStatus } from '../features/slots/panel-slots.js';
import { basePathOf } from '../config/public-url.js';
import { route, type PanelRoute } from './route.js';
import { Count, IsoTime, ListOf, Nullable, StoredTotal } from './schemas.js';

/** Routes about the process and the catalog. */
export function overviewRoutes(panel: Panel): readonly PanelRoute[] {
  return [
    route({
      method: 'GET',
      path: '/status',
      summary: 'The gateway at a glance.',
      answers: { 200: StatusReport },
      handle: async ({ ctx }) => {
        const path = basePathOf(panel.people.publicUrl);
        return statusReport(await panel.status(), `${ctx.protocol}://${ctx.host}${path}`);
      },
    }),
    route({
      method: 'GET',
      path: '/pages',
      summary: 'Pages that plugins bring to the console.',
      answers: { 200: ListOf(PageReport, {}) },
      handle: () => ({
        object: 'list',
        data: panel.pages.map(({ title, url, stage }) => ({ title, url, stage })),
      }),
    }),
    route({
      method: 'GET',
      path: '/models',
      summary: 'The model catalog with what only operators need to know.',
      answers: { 200: ListOf(ModelReport, {}) },
      handle: () => ({ object: 'list', data: modelReports(panel) }),
    }),
  ];
}

/** A page of a plugin as sent by the panel API. */
export const PageReport = Type.Object({
  title: Type.String(),
  url: Type.String({ description: 'Where it is served, below the path of the gateway.' }),
  stage: Type.String(),
});

/** The gateway at a glance, as sent by the panel API. */
export const StatusReport = Type.Object({
  name: Type.String(),
  version: Type.String(),
  uptime_seconds: Count,
  requests_in_flight: Count,
  requests_in_flight_instances: Type.Integer({
    minimum: 1,
    description:
      'How many instances these are the requests of: fewer than there are, where some did not answer.',
  }),
  slots: Type.Object({ total: Count, schedulable: Count }),
  store: Type.Object({
    kind: Type.String(),
    ok: Type.Boolean(),
    ledger_rows_waiting: Count,
    responses: Nullable(StoredTotal),
  }),
  live: Type.Object({ kind: Type.String(), ok: Type.Boolean(), instances: Count }),
  config_file: Type.String(),
  base_url: Type.String({ description: 'As the caller has reached it.' }),
  notices: Type.Array(Type.String(), { description: 'What operators should know, from the stages.' }),
});

function statusReport({ name, version, slots, live, ...status }: PanelStatus, baseUrl: string): object {
  const { kind, ok, ledgerRowsWaiting, responses } = status.store;
  return {
    name,
    version,
    uptime_seconds: Math.floor(status.uptimeSeconds),
    requests_in_flight: status.inFlight.requests,
    requests_in_flight_instances: status.inFlight.instances,
    slots,
    store: { kind, ok, ledger_rows_waiting: ledgerRowsWaiting, responses: responses ?? null },
    live,
    config_file: status.configFile,
    base_url: baseUrl,
    notices: status.notices,
  };
}

/** A model of the catalog, or of the list of an upstream, as sent by the panel API. */
export const ModelReport = Type.Object({
  id: Type.String(),
  display_name: Type.String(),
  upstream_model: Type.String(),
  max_tokens: Count,
  context_window: Nullable(Count),
  forced_tool_choice: Type.Boolean(),
  sampling: Type.Enum(['both', 'one', 'none']),
  thinking: Type.Enum(['adaptive', 'budget', 'none']),
  web_search: Type.Boolean(),
  aliases: Type.Array(Type.String()),
  created_at: IsoTime,
  served: Type.Boolean({ description: 'False: no slot serves it, as far as is known.' }),
});

/** All models, those first that a slot serves. */
function modelReports({ models, servesModel }: Pick<Panel, 'models' | 'servesModel'>): readonly object[] {
  const reports = models.listed().map((model) => ({ ...modelReport(model), served: servesModel(model.id) }));
  return [...reports.filter(({ served }) => served), ...reports.filter(({ served }) => !served)];
}

function modelReport(model: CatalogModel): object {
  return {
    id: model.id,
    display_name: model.displayName,
    upstream_model: model.upstreamModel,
    max_tokens: model.maxTokens,
    context_window: model.contextWindow ?? null,
    forced_tool_choice: model.forcedToolChoice,
    sampling: samplingOf(model),
    thinking: model.thinking,
    web_search: model.webSearch,
    aliases: model.aliases,
    created_at: new Date(model.created * 1000).toISOString(),
  };
}
