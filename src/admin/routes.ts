import { Router } from '@koa/router';
import { GatewayError, type DiagnosisStep, type SlotStatus } from '../plugin/internal.js';
import { redactAddresses } from './redact-addresses.js';
import { diagnosisReport, slotReport } from './reports.js';

/** Operator actions on a running gateway. Methods with a slot's id may assume that the slot exists. */
export interface Operations {
  listSlots(): readonly SlotStatus[];
  pause(id: string): void;
  resume(id: string): void;
  drain(id: string): void;
  diagnose(id: string, signal: AbortSignal): Promise<readonly DiagnosisStep[]>;
  /** Reloads the config. If there are `problems`, one sentence each, the old config stays in force. */
  reload(): Promise<Reload>;
  /** The stages in force, with the secrets in their options. */
  describePipeline(): readonly object[];
  /** The config as written in its file; may hold secrets. */
  readonly writtenConfig: unknown;
}

export interface Reload {
  readonly problems: readonly string[];
  /** Changed settings that take effect only after a restart. */
  readonly needsRestart: readonly string[];
}

/** Time limit of a diagnosis (contract §7 rule 1). */
export const diagnosisTimeoutMs = 10_000;

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
  router.post('/reload', async (ctx) => {
    const { problems, needsRestart } = await operations.reload();
    if (problems.length > 0) throw new GatewayError('invalid_request', refusal(problems));
    ctx.body = { status: 'reloaded', needs_restart: needsRestart };
  });
  router.get('/pipeline', (ctx) => {
    ctx.body = { object: 'list', data: redactAddresses(operations.describePipeline()) };
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

function refusal(problems: readonly string[]): string {
  return `The new config was refused; the old one stays in force.\n${problems.join('\n')}`;
}
