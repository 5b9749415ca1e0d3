import type { TProperties } from 'typebox';
import { GatewayError, parseJson, Type } from '../../plugin/index.js';
import { readText } from '../../plugin/core.js';
import { redactAddresses } from '../../kit/schema/redact-addresses.js';
import { ExplainBody, readExplainCall } from '../explain/explain-call.js';
import { recordedReport } from '../explain/recorded-report.js';
import { reloadRoutes } from './reload-routes.js';
import { SlotReport, slotReport } from '../slots/report.js';
import type { AdminCall, AdminRoute } from '../../operator/admin-route.js';
import { slotChangeRoutes } from '../slots/admin.js';

/** Max bytes of a request to explain. */
const maxExplainBytes = 16 * 1024 * 1024;

const AnyObject = Type.Record(Type.String(), Type.Unknown());

const reads: readonly AdminRoute[] = [
  {
    method: 'GET',
    path: '/slots',
    summary: 'All slots.',
    scope: 'slots:read',
    answer: listOf(SlotReport),
    handle: ({ operations }) => ({ object: 'list', data: operations.listSlots().map(slotReport) }),
  },
  {
    method: 'GET',
    path: '/explain/:id',
    summary:
      'What was recorded of a request, by its request id or its ledger id: stages, times, slots, codes.',
    scope: 'explain',
    answer: AnyObject,
    async handle({ id, operations }) {
      const row = await operations.recordedRequest(id);
      if (!row) throw new GatewayError('not_found', `There is no request ${JSON.stringify(id)}.`);
      return recordedReport(row);
    },
  },
  {
    method: 'GET',
    path: '/pipeline',
    summary: 'The stages as they run, secrets blanked, and what operators should know of them.',
    scope: 'config:read',
    answer: listOf(AnyObject, { notices: Type.Array(Type.String()) }),
    handle({ operations }) {
      const { notices } = operations;
      return { object: 'list', data: redactAddresses(operations.describePipeline()), notices };
    },
  },
  {
    method: 'GET',
    path: '/config',
    summary: 'The config as its file has it, secrets blanked.',
    scope: 'config:read',
    answer: AnyObject,
    handle: ({ operations }) => redactAddresses(operations.writtenConfig),
  },
];

const explain: AdminRoute = {
  method: 'POST',
  path: '/explain',
  summary:
    'Says how a request would be handled now: its stages, the slots considered, what would go out and what its caller would be told. Asks no upstream, and spends no limit.',
  scope: 'explain',
  audit: 'request.explain',
  noted: 'An operator has had a request explained.',
  body: ExplainBody,
  answer: AnyObject,
  handle: ({ ctx, operations, audit }) =>
    operations.explain(async () => {
      const text = await readText(ctx.req, maxExplainBytes, ctx.state.signal);
      return noteExplained(readExplainCall(parseJson(text)), audit);
    }),
};

/** Has the audit log say which request is explained: for which key, and its path. */
export function noteExplained<Call extends { readonly as: string | null; readonly path: string }>(
  call: Call,
  audit: AdminCall['audit'],
): Call {
  const [path = ''] = call.path.split('?', 1); // a query may hold a credential
  audit.note({ key: call.as, path });
  return call;
}

/** Routes of `/admin`. */
export const adminRoutes: readonly AdminRoute[] = [...reads, ...slotChangeRoutes, ...reloadRoutes, explain];

function listOf(item: object, beside: TProperties = {}) {
  return Type.Object({ object: Type.Literal('list'), data: Type.Array(Type.Unsafe(item)), ...beside });
}
