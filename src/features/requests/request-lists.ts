import type { Readable } from 'node:stream';
import type { Static } from 'typebox';
import type { LedgerPage, LedgerRow } from '../../state/ledger/contract.js';
import type { LedgerFilter } from '../../plugin/core.js';
import { invalid } from '../../operator/check.js';
import { columnsOf, csvAnswer } from '../../operator/csv.js';
import { findErrorTexts } from './error-texts.js';
import type { Names } from '../../operator/names.js';
import type { Services } from '../../gateway/services.js';
import { ExportedRequest, RequestReport, requestReport } from '../../operator/request-report.js';
import type { OperatorContext } from '../../operator/route.js';

/** List of requests for one query. */
interface RequestList {
  readonly filter: LedgerFilter;
  readonly limit: number;
  readonly cursor: string | undefined;
  /** True: with error texts. */
  readonly withTexts: boolean;
}

/** One page of requests, newest first. */
export async function requestsJson(services: Services, names: Names, list: RequestList) {
  const { rows, cursor } = await pageOf(services.store.ledger, list);
  const data = await reporter(services, names, list)(rows);
  return { object: 'list', data, has_more: cursor !== undefined, next_cursor: cursor ?? null };
}

/** Requests as CSV, newest first: a page at a time, to limit the load on the ledger and the memory. */
export async function requestsCsv(
  ctx: OperatorContext,
  services: Services,
  names: Names,
  list: RequestList,
): Promise<Readable> {
  const report = reporter(services, names, list);
  const pageAt = (cursor: string | undefined, left: number) =>
    pageOf(services.store.ledger, { ...list, cursor, limit: Math.min(left, csvPageRows) });
  const first = await pageAt(list.cursor, list.limit);
  const batches = (async function* () {
    let left = list.limit;
    for (let page = first; ; page = await pageAt(page.cursor, left)) {
      yield await report(page.rows);
      left -= page.rows.length;
      if (left <= 0 || page.cursor === undefined) return;
    }
  })();
  return csvAnswer(ctx, 'requests', columnsOf(list.withTexts ? ExportedRequest : RequestReport), batches);
}

const csvPageRows = 500;

type Reports = readonly Static<typeof ExportedRequest>[];

/** Makes reports of rows, with names as of its first use. */
function reporter(
  services: Services,
  names: Names,
  { withTexts }: RequestList,
): (rows: readonly LedgerRow[]) => Promise<Reports> {
  let finder: ReturnType<Names['ofKeys']> | undefined;
  return async (rows) => {
    const nameOf = await (finder ??= names.ofKeys());
    const reports = rows.map((row) => requestReport(row, nameOf));
    if (!withTexts) return reports;
    const texts = await findErrorTexts(rows, services);
    return reports.map((report, at) => ({
      ...report,
      error_text: texts.get(rows[at]?.id ?? '')?.text ?? null,
    }));
  };
}

async function pageOf(
  ledger: Services['store']['ledger'],
  { filter, limit, cursor }: Pick<RequestList, 'filter' | 'limit' | 'cursor'>,
): Promise<LedgerPage> {
  try {
    return await ledger.requests(filter, { limit, ...(cursor !== undefined && { cursor }) });
  } catch (error) {
    if (cursor === undefined || !(error instanceof TypeError)) throw error;
    throw invalid(['cursor: does not come from a previous page']);
  }
}
