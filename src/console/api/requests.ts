import type { Readable } from 'node:stream';
import {
  Closed,
  GatewayError,
  Type,
  type LedgerFilter,
  type LedgerPage,
  type LedgerRow,
} from '../../plugin/internal.js';
import { invalid } from './check.js';
import { As, columnsOf, csvAnswer, wantsCsv } from './csv.js';
import type { Names } from './names.js';
import { rangeFields, toFilter } from './ledger-query.js';
import { LiveReaders } from './live.js';
import type { Panel } from './panel.js';
import { requestDetail, requestReport, rowOf } from './request-report.js';
import { route, type PanelContext, type PanelRoute } from './route.js';
import { Line, ListOf, Nullable, RequestDetail, RequestReport } from './schemas.js';
import type { Sessions } from './sessions.js';

/** Routes of `/api/panel/requests`; the live route comes before the one by id, whose path would match it. */
export function requestRoutes(panel: Panel, names: Names, sessions: Sessions): readonly PanelRoute[] {
  return [listRoute(panel, names), liveRoute(panel, names, sessions), detailRoute(panel, names)];
}

function listRoute(panel: Panel, names: Names): PanelRoute {
  const { ledger } = panel.store;
  const paging = { has_more: Type.Boolean(), next_cursor: Nullable(Type.String()) };
  return route({
    method: 'GET',
    path: '/requests',
    summary: 'Requests to models, newest first.',
    query: PageQuery,
    answers: { 200: ListOf(RequestReport, paging) },
    otherAnswerType: 'text/csv',
    async handle({ query: { limit: asked, as, cursor, ...query }, ctx }) {
      const isCsv = wantsCsv(ctx, as);
      const limit = asked ?? (isCsv ? maxCsvRows : 50);
      if (isCsv) return requestsCsv(ctx, panel, names, { filter: toFilter(query, panel), limit, cursor });
      if (limit > maxRows) throw invalid([`limit: must be at most ${maxRows}, but for CSV`]);
      const page = { limit, ...(cursor !== undefined && { cursor }) };
      const { rows, cursor: next } = await pageOf(ledger, toFilter(query, panel), page);
      const nameOf = await names.ofKeys();
      const data = rows.map((row) => requestReport(row, nameOf));
      return { object: 'list', data, has_more: next !== undefined, next_cursor: next ?? null };
    },
  });
}

function liveRoute(panel: Panel, names: Names, sessions: Sessions): PanelRoute {
  const readers = new LiveReaders(panel, names);
  return route({
    method: 'GET',
    path: '/requests/live',
    summary: 'Requests as they end, on all instances: `event: request` with a request as data.',
    query: Filter,
    answers: { 200: Type.String() },
    answerType: 'text/event-stream',
    handle({ ctx, query, session }) {
      ctx.type = 'text/event-stream';
      ctx.set('x-accel-buffering', 'no');
      const filter = matcherOf(toFilter(query, panel));
      return readers.open({ ctx, filter, isAllowed: () => sessions.isStillGood(session) });
    },
  });
}

function detailRoute(panel: Panel, names: Names): PanelRoute {
  const { ledger } = panel.store;
  /**
   * Looks a row up, flushing the ledger of all instances once: a request that has just finished may not be
   * written yet.
   */
  const find = async (place: NonNullable<ReturnType<typeof rowOf>>) => {
    const row = await ledger.get(place);
    if (row) return row;
    await panel.flushLedger();
    return ledger.get(place);
  };
  return route({
    method: 'GET',
    path: '/requests/:id',
    summary: 'One request, with the stages that it passed and its upstream calls.',
    answers: { 200: RequestDetail },
    async handle({ id }) {
      const place = rowOf(id);
      const row = place && (await find(place));
      if (!row) throw new GatewayError('not_found', `There is no request ${JSON.stringify(id)}.`);
      return requestDetail(row, await names.ofKeys());
    },
  });
}

interface CsvQuery {
  readonly filter: LedgerFilter;
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** Requests as CSV, newest first: a page at a time, so that neither the ledger nor the memory is taken up. */
async function requestsCsv(
  ctx: PanelContext,
  { store: { ledger } }: Panel,
  names: Names,
  { filter, limit, cursor }: CsvQuery,
): Promise<Readable> {
  const nameOf = await names.ofKeys();
  const pageAt = (at: string | undefined, left: number) =>
    pageOf(ledger, filter, { limit: Math.min(left, csvPageRows), ...(at !== undefined && { cursor: at }) });
  const first = await pageAt(cursor, limit);
  const batches = (async function* () {
    let left = limit;
    for (let page = first; ; page = await pageAt(page.cursor, left)) {
      yield page.rows.map((row) => requestReport(row, nameOf));
      left -= page.rows.length;
      if (left <= 0 || page.cursor === undefined) return;
    }
  })();
  return csvAnswer(ctx, 'requests', columnsOf(RequestReport), batches);
}

const maxRows = 1000;
const maxCsvRows = 10_000;
const csvPageRows = 500;

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
});

function matcherOf({
  fromMs = -Infinity,
  toMs = Infinity,
  cause,
  ...equal
}: LedgerFilter): (row: LedgerRow) => boolean {
  const fields = Object.entries(equal) as [keyof LedgerRow, unknown][]; // the other fields of a filter are fields of a row
  return (row) =>
    row.atMs >= fromMs &&
    row.atMs < toMs &&
    (cause === undefined || row.cache?.cause === cause) &&
    fields.every(([field, value]) => row[field] === value);
}

async function pageOf(
  ledger: Panel['store']['ledger'],
  filter: LedgerFilter,
  page: { readonly limit: number; readonly cursor?: string },
): Promise<LedgerPage> {
  try {
    return await ledger.requests(filter, page);
  } catch (error) {
    if (page.cursor === undefined || !(error instanceof TypeError)) throw error;
    throw invalid(['cursor: is not one that a page has ended with']);
  }
}
