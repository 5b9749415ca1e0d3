import { Readable } from 'node:stream';
import { setImmediate as breath } from 'node:timers/promises';
import type { Static } from 'typebox';
import { Closed } from '../../kit/schema/type.js';
import { Time, timeMs } from '../../kit/schema/units.js';
import { Type } from '../../plugin/index.js';
import type { AuditEntry, AuditFilter, AuditLog } from '../../state/store/contract/audit.js';
import { auditColumns, auditRow, auditOutcomes, auditReport, AuditReport } from './audit-report.js';
import { invalid } from '../../operator/check.js';
import { csvAnswer } from '../../operator/csv.js';
import type { RoutesOf } from '../../operator/route-source.js';
import { route, type Route } from '../../operator/route.js';
import { Line, ListOf, Nullable, plainText } from '../../operator/schemas.js';

const filters = {
  from: Type.Optional(Time()),
  to: Type.Optional(Time()),
  actor: Type.Optional(Line),
  action: Type.Optional(
    Type.String({
      pattern: '^[a-z_]{1,40}\\.([a-z_]{1,40}|\\*)$',
      description: 'An action, or those of a subject: `key.create`, `key.*`.',
    }),
  ),
  target: Type.Optional(Type.String({ minLength: 1, maxLength: 300, pattern: plainText })),
  outcome: Type.Optional(Type.Enum([...auditOutcomes])),
};

const Filter = Closed(filters);

/** Routes of `/api/panel/audit`, for viewers too, since entries contain no secrets. */
export const panelRoutes: RoutesOf = ({ services }) => {
  const { audit } = services.store;
  return [
    route({
      method: 'GET',
      path: '/api/panel/audit',
      summary: 'What operators have done, newest first.',
      query: Closed({
        ...filters,
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Default 50.' })),
        cursor: Type.Optional(Line),
      }),
      answers: {
        200: ListOf(AuditReport, { has_more: Type.Boolean(), next_cursor: Nullable(Type.String()) }),
      },
      async handle({ query: { limit = 50, cursor, ...query } }) {
        const page = { limit, ...(cursor !== undefined && { cursor }) };
        const { entries, cursor: next } = await pageOf(audit, toFilter(query), page);
        const data = entries.map(auditReport);
        return { object: 'list', data, has_more: next !== undefined, next_cursor: next ?? null };
      },
    }),
    exportRoute(audit),
  ];
};

function exportRoute(audit: AuditLog): Route {
  return route({
    method: 'GET',
    path: '/api/panel/audit/export',
    summary: `The same as a CSV or JSON file: at most the ${maxExported} newest entries.`,
    query: Closed({ ...filters, format: Type.Optional(Type.Enum(['csv', 'json'])) }),
    answers: { 200: Type.Array(AuditReport) },
    otherAnswerType: 'text/csv',
    handle({ ctx, query: { format = 'csv', ...query } }) {
      const entries = entriesOf(audit, toFilter(query));
      if (format === 'csv') return csvAnswer(ctx, 'audit', auditColumns, rowsOf(entries));
      ctx.type = 'application/json';
      ctx.set('content-disposition', 'attachment; filename="audit.json"');
      return Readable.from(json(entries), { objectMode: false });
    },
  });
}

const maxExported = 100_000;
const exportPage = 500;

/** All entries of a filter, page by page; the event loop serves other requests in between. */
async function* entriesOf(audit: AuditLog, filter: AuditFilter): AsyncGenerator<readonly AuditEntry[]> {
  let cursor: string | undefined;
  for (let count = 0; count < maxExported; count += exportPage) {
    const page = await audit.page(filter, { limit: exportPage, ...(cursor !== undefined && { cursor }) });
    yield page.entries;
    cursor = page.cursor;
    if (cursor === undefined) return;
    await breath();
  }
}

async function* rowsOf(pages: AsyncIterable<readonly AuditEntry[]>): AsyncGenerator<readonly object[]> {
  for await (const entries of pages) yield entries.map(auditRow);
}

async function* json(pages: AsyncIterable<readonly AuditEntry[]>): AsyncGenerator<string> {
  let separator = '[';
  for await (const entries of pages)
    for (const entry of entries) {
      yield `${separator}\n${JSON.stringify(auditReport(entry))}`;
      separator = ',';
    }
  yield separator === '[' ? '[]\n' : '\n]\n';
}

function toFilter({ from, to, ...equal }: Static<typeof Filter>): AuditFilter {
  return {
    ...equal,
    ...(from !== undefined && { fromMs: timeMs(from) }),
    ...(to !== undefined && { toMs: timeMs(to) }),
  };
}

async function pageOf(
  audit: AuditLog,
  filter: AuditFilter,
  page: Parameters<AuditLog['page']>[1],
): ReturnType<AuditLog['page']> {
  try {
    return await audit.page(filter, page);
  } catch (error) {
    if (page.cursor === undefined || !(error instanceof TypeError)) throw error;
    throw invalid(['cursor: does not come from a previous page']);
  }
}
