import { GatewayError } from '../../plugin/index.js';
import type { SlotStatus } from '../../plugin/core.js';
import type { Services } from '../../gateway/services.js';
import { DiagnosisReport, diagnosisReport, AdminSlotReport, adminSlotReport } from './admin-report.js';
import type { RoutesOf } from '../../operator/route-source.js';
import { route } from '../../operator/route.js';
import { ListOf } from '../../operator/schemas.js';

/** Time limit of a diagnosis. */
export const diagnosisTimeoutMs = 10_000;

/** Routes of `/admin/slots`. */
export const adminRoutes: RoutesOf = ({ services: { slots } }) => [
  route({
    method: 'GET',
    path: '/admin/slots',
    summary: 'All slots.',
    scope: 'slots:read',
    answers: { 200: ListOf(AdminSlotReport, {}) },
    handle: () => ({ object: 'list', data: slots.list().map(adminSlotReport) }),
  }),
  ...(['pause', 'resume', 'drain'] as const).map((verb) =>
    route({
      method: 'POST',
      path: `/admin/slots/:id/${verb}`,
      summary: `Has a slot ${verb}.`,
      scope: 'slots:write',
      audit: `slot.${verb}`,
      answers: { 200: AdminSlotReport },
      handle({ id, audit }) {
        const before = findSlot(slots, id);
        slots[verb](id);
        const after = findSlot(slots, id);
        audit.change({ state: before.state }, { state: after.state });
        return adminSlotReport(after);
      },
    }),
  ),
  route({
    method: 'POST',
    path: '/admin/slots/:id/diagnose',
    summary:
      "Resolves the upstream's name, calls it through the slot's own proxy if any, and checks its credential.",
    scope: 'slots:diagnose',
    audit: 'slot.diagnose',
    noted: 'An operator diagnosed a slot.',
    answers: { 200: DiagnosisReport },
    async handle({ id, audit }) {
      findSlot(slots, id);
      const report = diagnosisReport(id, await slots.diagnose(id, AbortSignal.timeout(diagnosisTimeoutMs)));
      audit.note({ ok: report.ok });
      return report;
    },
  }),
];

function findSlot(slots: Services['slots'], id: string): SlotStatus {
  const listed = slots.list();
  const slot = listed.find((status) => status.id === id);
  if (slot) return slot;
  const known = listed.map((status) => `"${status.id}"`);
  throw new GatewayError('not_found', `Unknown slot "${id}"; known slots: ${known.join(', ') || 'none'}.`);
}
