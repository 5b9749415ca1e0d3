import { GatewayError, parseJson, Type } from '../../plugin/index.js';
import { readText } from '../../plugin/core.js';
import type { RoutesOf } from '../../operator/route-source.js';
import { route } from '../../operator/route.js';
import { GivenRequestBody, noteGiven, readGivenRequest } from '../../operator/given-request.js';
import { liveExplainer } from './extension.js';
import type { LedgerRow } from '../../state/ledger/contract.js';
import { rowOf } from '../../operator/request-report.js';
import { isoTime } from '../../operator/schemas.js';
import type { Gateway } from '../../gateway/gateway.js';

/** Max bytes of a request to explain. */
const maxExplainBytes = 16 * 1024 * 1024;

const AnyObject = Type.Record(Type.String(), Type.Unknown());

/** Routes that explain a request, and return the recorded data of one. */
export const adminRoutes: RoutesOf = (gateway) => [
  route({
    method: 'GET',
    path: '/admin/explain/:id',
    summary: 'The record of a request, by its request id or its ledger id: stages, times, slots, codes.',
    scope: 'explain',
    answers: { 200: AnyObject },
    async handle({ id }) {
      const row = await recordedRequest(gateway, id);
      if (!row) throw new GatewayError('not_found', `Unknown request ${JSON.stringify(id)}.`);
      return recordedReport(row);
    },
  }),
  route({
    method: 'POST',
    path: '/admin/explain',
    summary:
      'Explains how a request would be handled now: its stages, the slots considered, what would go out and what its caller would be told. Calls no upstream and uses up no limit.',
    scope: 'explain',
    audit: 'request.explain',
    noted: 'An operator requested an explanation.',
    body: GivenRequestBody,
    readsBody: true, // of any content type
    answers: { 200: AnyObject },
    async handle({ ctx, audit }) {
      const explainer = await gateway.use(liveExplainer);
      return explainer.explain(async () => {
        const text = await readText(ctx.req, maxExplainBytes, ctx.state.signal);
        return noteGiven(readGivenRequest(parseJson(text)), audit);
      });
    },
  }),
];

/** Recorded facts of a real request: no texts, which the gateway does not keep. */
function recordedReport(row: LedgerRow): object {
  const { stages = [], calls = [], answeredBy = null } = row.trace ?? {};
  return {
    object: 'recorded_request',
    id: `${row.atMs}.${row.id}`,
    at: isoTime(row.atMs),
    request_id: row.requestId,
    key: row.keyId ?? null,
    format: row.format,
    model: row.model ?? null,
    answered_by: answeredBy,
    slot: row.slot ?? null,
    status: row.status,
    code: row.code ?? null,
    failed: row.failed,
    first_event_ms: row.firstEventMs ?? null,
    duration_ms: row.durationMs,
    stages: stages.map(({ stage, ms, skipped = false }) => ({ stage, ms, skipped })),
    calls: calls.map(({ slot, model = null, ms, code = null }) => ({ slot, model, ms, code })),
    billed: row.billed,
    shown: row.shown,
  };
}

/**
 * Row of a request with its trace, by `<time>.<id>` as in reports, or by its request id: then the last one of that. A
 * request that has just ended may not be in the store yet.
 */
async function recordedRequest(gateway: Gateway, id: string): Promise<LedgerRow | undefined> {
  if (/\p{Cc}/u.test(id) || id.length > maxIdLength) return undefined;
  const found = await findRow(gateway, id);
  if (found) return found;
  await gateway.fleet.flushLedger();
  return findRow(gateway, id);
}

const maxIdLength = 300;

async function findRow({ services }: Gateway, id: string): Promise<LedgerRow | undefined> {
  const { ledger } = services.store;
  const own = rowOf(id);
  const found = own && (await ledger.get(own));
  if (found) return found;
  // A caller's request id may look like the id of a report.
  const { rows } = await ledger.requests({ requestId: id }, { limit: 1 });
  return rows[0] && ledger.get(rows[0]);
}
