import { Router } from '@koa/router';
import {
  GatewayError,
  parseJson,
  readBytes,
  redactAddresses,
  type GatewayState,
  type SlotStatus,
} from '../plugin/internal.js';
import { readExplainCall } from './explain-call.js';
import { recordedReport } from './recorded-report.js';
import type { Operations } from './operations.js';
import { addReloadRoutes } from './reload-routes.js';
import { diagnosisReport, slotReport } from './reports.js';

/** Time limit of a diagnosis (contract §7 rule 1). */
export const diagnosisTimeoutMs = 10_000;

/** Max bytes of a request to explain. */
export const maxExplainBytes = 16 * 1024 * 1024;

type AdminState = Pick<GatewayState, 'log' | 'signal'>;

/** Router of `/admin/*`; the caller's permission is checked before. */
export function createAdminRouter(operations: Operations): Router {
  const router = new Router({ prefix: '/admin' });
  router.get('/slots', (ctx) => {
    ctx.body = { object: 'list', data: operations.listSlots().map(slotReport) };
  });
  for (const verb of ['pause', 'resume', 'drain'] as const) {
    router.post(`/slots/:id/${verb}`, (ctx) => {
      const { id } = findSlot(operations, ctx.params['id']);
      operations[verb](id);
      ctx.body = slotReport(findSlot(operations, id));
    });
  }
  router.post('/slots/:id/diagnose', async (ctx) => {
    const { id } = findSlot(operations, ctx.params['id']);
    const steps = await operations.diagnose(id, AbortSignal.timeout(diagnosisTimeoutMs));
    ctx.body = diagnosisReport(id, steps);
  });
  addReloadRoutes(router, operations);
  router.post('/explain', async (ctx) => {
    const { req, state } = ctx as typeof ctx & { readonly state: AdminState };
    const noted = { by: 'master', key: '' as string | null, path: '' };
    ctx.body = await operations.explain(async () => {
      const text = (await readBytes(req, maxExplainBytes, state.signal)).toString();
      const call = readExplainCall(parseJson(text));
      const [path = ''] = call.path.split('?', 1); // a query may hold a credential
      Object.assign(noted, { key: call.as, path });
      return call;
    });
    state.log.info(noted, 'An operator has had a request explained.');
  });
  router.get('/explain/:id', async (ctx) => {
    const { id = '' } = ctx.params;
    const row = await operations.recordedRequest(id);
    if (!row) throw new GatewayError('not_found', `There is no request ${JSON.stringify(id)}.`);
    ctx.body = recordedReport(row);
  });
  router.get('/pipeline', (ctx) => {
    const { notices } = operations;
    ctx.body = { object: 'list', data: redactAddresses(operations.describePipeline()), notices };
  });
  router.get('/config', (ctx) => {
    ctx.body = redactAddresses(operations.writtenConfig);
  });
  return router;
}

function findSlot(operations: Operations, id: string | undefined): SlotStatus {
  const slot = operations.listSlots().find((status) => status.id === id);
  if (slot) return slot;
  const known = operations.listSlots().map((status) => `"${status.id}"`);
  throw new GatewayError('not_found', `There is no slot "${id}"; there are ${known.join(', ') || 'none'}.`);
}
