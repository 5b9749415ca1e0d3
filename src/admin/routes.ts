import { Router } from '@koa/router';
import { GatewayError, type DiagnosisStep, type SlotStatus } from '../plugin/index.js';
import { redactSecrets } from './redact-secrets.js';
import { diagnosisReport } from './diagnosis-report.js';
import { slotReport } from './slot-report.js';

/** What an operator may ask of a running gateway. Those that take a slot's id may assume that it exists. */
export interface Operations {
  listSlots(): readonly SlotStatus[];
  pause(id: string): void;
  resume(id: string): void;
  drain(id: string): void;
  diagnose(id: string, signal: AbortSignal): Promise<readonly DiagnosisStep[]>;
  /** Reads the config again. Where there are `problems`, a sentence each, the old one keeps running. */
  reload(): Promise<Reload>;
  /** The stages as they run, secrets in their options included. */
  describePipeline(): readonly object[];
  /** The config as its file has it. */
  readonly writtenConfig: unknown;
}

export interface Reload {
  readonly problems: readonly string[];
  /** The settings that take effect only at a restart. */
  readonly needsRestart: readonly string[];
}

/** The longest that a diagnosis may take (contract §7 rule 1). */
export const diagnosisTimeoutMs = 10_000;

/** `/admin/*`, for callers who may use it. */
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
  router.post('/reload', async (ctx) => {
    const { problems, needsRestart } = await operations.reload();
    if (problems.length > 0) throw new GatewayError('invalid_request', refusal(problems));
    ctx.body = { status: 'reloaded', needs_restart: needsRestart };
  });
  router.get('/pipeline', (ctx) => {
    ctx.body = { object: 'list', data: redactSecrets(operations.describePipeline()) };
  });
  router.get('/config', (ctx) => {
    ctx.body = redactSecrets(operations.writtenConfig);
  });
  return router;
}

function findSlot(operations: Operations, id: string | undefined): SlotStatus {
  const slot = operations.listSlots().find((status) => status.id === id);
  if (slot) return slot;
  const known = operations.listSlots().map((status) => `"${status.id}"`);
  throw new GatewayError('not_found', `There is no slot "${id}"; there are ${known.join(', ') || 'none'}.`);
}

function refusal(problems: readonly string[]): string {
  return `The config was not taken; the old one keeps running.\n${problems.join('\n')}`;
}
