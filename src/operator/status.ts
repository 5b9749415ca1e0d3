import type { Static } from 'typebox';
import { samplingOf } from '../plugin/format/index.js';
import { Type, type CatalogModel } from '../plugin/index.js';
import { uncountedBudgets } from '../gateway/budgets.js';
import type { Gateway } from '../gateway/gateway.js';
import { isUp } from '../gateway/services.js';
import { responseTotal } from '../gateway/telemetry/response-total.js';
import { name, version } from '../kit/version.js';
import { basePathOf } from '../config/public-url.js';
import { route, type Route } from './route.js';
import { Count, IsoTime, ListOf, Nullable, StoredTotal } from './schemas.js';

/** Routes about the process and the catalog. */
export function overviewRoutes(gateway: Gateway): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/panel/status',
      summary: 'The gateway at a glance.',
      answers: { 200: StatusReport },
      handle: ({ ctx }) => {
        const path = basePathOf(gateway.runtime.config.panel.publicUrl);
        return statusReport(gateway, `${ctx.protocol}://${ctx.host}${path}`);
      },
    }),
    route({
      method: 'GET',
      path: '/api/panel/pages',
      summary: 'Pages that plugins bring to the console.',
      answers: { 200: ListOf(PageReport, {}) },
      handle: () => ({
        object: 'list',
        data: gateway.runtime.pipeline.routes.flatMap(({ page, path, stage }) =>
          page === undefined ? [] : { title: page, url: path, stage },
        ),
      }),
    }),
    route({
      method: 'GET',
      path: '/api/panel/models',
      summary: 'The model catalog with details for operators.',
      answers: { 200: ListOf(ModelReport, {}) },
      handle: () => ({ object: 'list', data: modelReports(gateway) }),
    }),
  ];
}

/** A page of a plugin as sent by the console API. */
export const PageReport = Type.Object({
  title: Type.String(),
  url: Type.String({ description: 'Path of the page, below the path of the gateway.' }),
  stage: Type.String(),
});

/** The gateway at a glance, as sent by the console API. */
export const StatusReport = Type.Object({
  name: Type.String(),
  version: Type.String(),
  uptime_seconds: Count,
  requests_in_flight: Count,
  requests_in_flight_instances: Type.Integer({
    minimum: 1,
    description: 'How many instances these are the requests of: fewer than exist if some did not answer.',
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
  base_url: Type.String({ description: 'Address by which the caller reached it.' }),
  notices: Type.Array(Type.String(), { description: 'Notes of the stages for operators.' }),
});

async function statusReport(gateway: Gateway, baseUrl: string): Promise<Static<typeof StatusReport>> {
  const { config } = gateway.runtime;
  const { ledger, live, slots, now, store } = gateway.services;
  const up = isUp(gateway.services);
  const inFlight = await gateway.fleet.inFlight();
  const { instances = inFlight.instances } = live;
  return {
    name,
    version,
    uptime_seconds: Math.floor((now() - gateway.startedMs) / 1000),
    requests_in_flight: inFlight.requests,
    requests_in_flight_instances: inFlight.instances,
    slots: { total: slots.list().length, schedulable: slots.schedulable },
    store: {
      kind: config.store.kind,
      ok: up.store,
      ledger_rows_waiting: ledger.waiting,
      responses: await responseTotal(store.responses).catch(() => null), // reported by `ok`
    },
    live: { kind: config.live.kind, ok: up.live, instances },
    config_file: config.file,
    base_url: baseUrl,
    notices: [...(await noticesOf(gateway))],
  };
}

/** Sentences of stages, and about budgets that no stage counts. */
async function noticesOf({ runtime: { pipeline }, services }: Gateway): Promise<readonly string[]> {
  const uncounted = await uncountedBudgets(pipeline, services.store).catch(() => undefined); // of a store that is away
  return uncounted === undefined ? pipeline.notices : [...pipeline.notices, uncounted];
}

/** A model of the catalog, or of the list of an upstream, as sent by the console API. */
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

/** All models, served ones first. */
function modelReports({ runtime, services }: Gateway): readonly object[] {
  const { served: known } = services.knownModels;
  const reports = runtime.models
    .listed()
    .map((model) => ({ ...modelReport(model), served: known.serves(model.id) }));
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
