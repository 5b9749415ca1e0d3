import { GatewayError } from '../../plugin/index.js';
import type { SlotStatus } from '../../plugin/core.js';
import type { Operations } from '../pipeline/operations.js';
import { DiagnosisReport, diagnosisReport, SlotReport, slotReport } from './report.js';
import type { AdminRoute } from '../../operator/admin-route.js';

/** Time limit of a diagnosis (contract §7 rule 1). */
export const diagnosisTimeoutMs = 10_000;

/** Routes of `/admin/slots` that act on a slot. */
export const slotChangeRoutes: readonly AdminRoute[] = [
  ...(['pause', 'resume', 'drain'] as const).map((verb): AdminRoute => ({
    method: 'POST',
    path: `/slots/:id/${verb}`,
    summary: `Has a slot ${verb}.`,
    scope: 'slots:write',
    audit: `slot.${verb}`,
    answer: SlotReport,
    handle({ id, operations, audit }) {
      const before = findSlot(operations, id);
      operations[verb](id);
      const after = findSlot(operations, id);
      audit.change({ state: before.state }, { state: after.state });
      return slotReport(after);
    },
  })),
  {
    method: 'POST',
    path: '/slots/:id/diagnose',
    summary:
      "Resolves the upstream's name, calls it over the slot's own way out, and has its credential checked.",
    scope: 'slots:diagnose',
    audit: 'slot.diagnose',
    noted: 'An operator has had a slot diagnosed.',
    answer: DiagnosisReport,
    async handle({ id, operations, audit }) {
      findSlot(operations, id);
      const report = diagnosisReport(
        id,
        await operations.diagnose(id, AbortSignal.timeout(diagnosisTimeoutMs)),
      );
      audit.note({ ok: report.ok });
      return report;
    },
  },
];

function findSlot(operations: Operations, id: string): SlotStatus {
  const slot = operations.listSlots().find((status) => status.id === id);
  if (slot) return slot;
  const known = operations.listSlots().map((status) => `"${status.id}"`);
  throw new GatewayError('not_found', `There is no slot "${id}"; there are ${known.join(', ') || 'none'}.`);
}
