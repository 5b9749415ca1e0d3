import type { AuditTerms } from '../../state/audit/audit.js';
import { Closed } from '../../kit/schema/type.js';
import { GatewayError, Type } from '../../plugin/index.js';
import { matches } from '../../state/ledger/filters.js';
import { requireRole, type Actor } from '../../operator/access/actor.js';
import { invalid } from '../../operator/check.js';
import { As, wantsCsv } from '../../operator/csv.js';
import { errorTextReport } from './error-texts.js';
import type { Names } from '../../operator/names.js';
import type { RoutesOf, SharedServices } from '../../operator/route-source.js';
import { rangeFields, toFilter } from '../../operator/ledger-query.js';
import { once } from '../../kit/once.js';
import { liveRequests } from './extension.js';
import { LiveReaders } from './live.js';
import type { Gateway } from '../../gateway/gateway.js';
import { requestsCsv, requestsJson } from './request-lists.js';
import { ExportedRequest, RequestDetail, requestDetail, rowOf } from '../../operator/request-report.js';
import { route, type OperatorContext, type Route } from '../../operator/route.js';
import { Line, ListOf, Nullable } from '../../operator/schemas.js';
import { withTeamId } from '../../operator/team-id.js';

/** Routes of `/api/panel/requests`; the live route comes before the one by id, whose path would match it. */
export const panelRoutes: RoutesOf = (gateway, shared) => [
  listRoute(gateway, shared.names),
  liveRoute(gateway, shared),
  detailRoute(gateway, shared.names),
];

function listRoute(gateway: Gateway, names: Names): Route {
  const { services } = gateway;
  const paging = { has_more: Type.Boolean(), next_cursor: Nullable(Type.String()) };
  return route({
    method: 'GET',
    path: '/api/panel/requests',
    summary:
      'Requests to models, newest first. With `error_texts`, for admins, each failed one has its error text if it is ' +
      'kept, and the call is recorded in the audit log.',
    query: PageQuery,
    answers: { 200: ListOf(ExportedRequest, paging) },
    otherAnswerType: 'text/csv',
    async handle({ query: { limit: asked, as, cursor, error_texts: texts, ...filters }, actor, ctx }) {
      const query = await withTeamId(services.store, filters);
      const isCsv = wantsCsv(ctx, as);
      const limit = asked ?? (isCsv ? maxCsvRows : 50);
      if (!isCsv && limit > maxRows) throw invalid([`limit: must be at most ${maxRows}, except for CSV`]);
      const withTexts = texts === '1' || texts === 'true';
      const list = { filter: toFilter(query, gateway), limit, cursor, withTexts };
      const answer = async (): Promise<object> =>
        isCsv ? requestsCsv(ctx, services, names, list) : requestsJson(services, names, list);
      if (!withTexts) return answer();
      return services.audit.run(auditTerms(ctx, actor), (action) => {
        requireRole(actor, { method: 'GET', role: 'admin' });
        action.note({ query: { ...query, limit } }); // of the caller: its names must not be fields of a log line
        return answer();
      });
    },
  });
}

/** Audit entry of a call that reads many error texts; none for that of one request. */
function auditTerms({ ip, state: { log, requestId } }: OperatorContext, actor: Actor): AuditTerms {
  const noted = 'An operator exported error texts of requests.';
  return { action: 'request.export_texts', actor, address: ip, requestId, log, noted };
}

function liveRoute(gateway: Gateway, { names, sessions }: SharedServices): Route {
  const { closing, services } = gateway;
  const openReaders = once(async () => {
    const feed = await gateway.use(liveRequests);
    return new LiveReaders({ feed, closing, log: services.log, names, sessions });
  });
  return route({
    method: 'GET',
    path: '/api/panel/requests/live',
    summary: 'Requests as they end, on all instances: `event: request` with a request as data.',
    query: Filter,
    answers: { 200: Type.String() },
    answerType: 'text/event-stream',
    async handle({ ctx, query, session }) {
      const filter = toFilter(await withTeamId(services.store, query), gateway);
      ctx.type = 'text/event-stream';
      ctx.set('x-accel-buffering', 'no');
      const readers = await openReaders();
      return readers.open({
        ctx,
        filter: (row) => matches(row, filter),
        isAllowed: () => sessions.isStillGood(session),
      });
    },
  });
}

function detailRoute({ services, fleet }: Gateway, names: Names): Route {
  const { ledger } = services.store;
  /**
   * Looks a row up, flushing the ledger of all instances once: a request that has just finished may not be
   * written yet.
   */
  const find = async (place: NonNullable<ReturnType<typeof rowOf>>) => {
    const row = await ledger.get(place);
    if (row) return row;
    await fleet.flushLedger();
    return ledger.get(place);
  };
  return route({
    method: 'GET',
    path: '/api/panel/requests/:id',
    summary: 'One request, with the stages that it passed and its upstream calls.',
    answers: { 200: RequestDetail },
    async handle({ id, actor }) {
      const place = rowOf(id);
      const row = place && (await find(place));
      if (!row) throw new GatewayError('not_found', `Unknown request ${JSON.stringify(id)}.`);
      const detail = requestDetail(row, await names.ofKeys());
      return actor.role === 'admin'
        ? { ...detail, error_text: await errorTextReport(row, services) }
        : detail;
    },
  });
}

const maxRows = 1000;
const maxCsvRows = 10_000;

const Filter = Closed(rangeFields);

const PageQuery = Closed({
  ...rangeFields,
  as: Type.Optional(As),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxCsvRows,
      description: `Default 50, at most ${maxRows}; as CSV ${maxCsvRows}.`,
    }),
  ),
  cursor: Type.Optional(Line),
  error_texts: Type.Optional(
    Type.Enum(['1', '0', 'true', 'false'], { description: 'For admins: the error texts, too.' }),
  ),
});
