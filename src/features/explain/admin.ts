import { GatewayError, parseJson, Type } from '../../plugin/index.js';
import { readText } from '../../plugin/core.js';
import type { RoutesOf } from '../../operator/route-source.js';
import { route } from '../../operator/route.js';
import { GivenRequestBody, noteGiven, readGivenRequest } from '../../operator/given-request.js';
import { explanations } from './extension.js';
import { recordedReport } from './recorded-report.js';
import { recordedRequest } from './recorded-report.js';

/** Max bytes of a request to explain. */
const maxExplainBytes = 16 * 1024 * 1024;

const AnyObject = Type.Record(Type.String(), Type.Unknown());

/** Routes that explain a request, and what was recorded of one. */
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
      const explainer = await gateway.use(explanations);
      return explainer.explain(async () => {
        const text = await readText(ctx.req, maxExplainBytes, ctx.state.signal);
        return noteGiven(readGivenRequest(parseJson(text)), audit);
      });
    },
  }),
];
