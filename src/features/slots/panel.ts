import { DiagnosisReport, diagnosisReport } from './admin-report.js';
import { diagnosisTimeoutMs } from './admin.js';
import { Closed } from '../../kit/schema/type.js';
import { maxSlotChanges } from '../../state/store/contract/slot-history.js';
import { Type } from '../../plugin/index.js';
import type { Gateway } from '../../gateway/gateway.js';
import { SlotSchema } from '../../config/slots/slot-schema.js';
import { patchSchema } from '../../kit/schema/json-schema.js';
import type { RoutesOf } from '../../operator/route-source.js';
import { route, type Route } from '../../operator/route.js';
import { ListOf } from '../../operator/schemas.js';
import { maxEntryBytes, SlotEditor, type Entry } from './slot-editor.js';
import { slotKindsRoute } from './kinds-route.js';
import { slotHistory } from './history/index.js';
import { SlotChangeReport, slotChangeReport } from './history-report.js';
import { shownSlots } from './shown-slots.js';
import { ConsoleSlotReport } from './console-report.js';

/** Routes of slots and their kinds. */
export const panelRoutes: RoutesOf = (gateway) => [...slotRoutes(gateway), slotKindsRoute(gateway)];

function slotRoutes(gateway: Gateway): readonly Route[] {
  const editor = new SlotEditor(gateway);
  return [
    route({
      method: 'GET',
      path: '/api/panel/slots',
      summary: 'All slots, those of the config file and those of the console.',
      answers: { 200: ListOf(ConsoleSlotReport, {}) },
      handle: async () => ({
        object: 'list',
        data: await Promise.all(shownSlots(gateway).map(editor.report)),
      }),
    }),
    route({
      method: 'POST',
      path: '/api/panel/slots',
      summary: 'Adds a slot, in the form it would have under `slots:` in the config file.',
      body: AnyObject,
      maxBodyBytes: maxEntryBytes,
      bodySchema: SlotSchema,
      audit: 'slot.create',
      answers: { 201: ConsoleSlotReport },
      handle: ({ body, audit }) => editor.create(body, audit),
    }),
    route({
      method: 'PATCH',
      path: '/api/panel/slots/:id',
      summary:
        'Changes a slot of the console by a merge patch; values sent back as `***` stay unchanged. ' +
        'If its secrets would go to another address, they must be sent again.',
      body: AnyObject,
      maxBodyBytes: maxEntryBytes,
      bodySchema: patchSchema(SlotSchema),
      audit: 'slot.update',
      answers: { 200: ConsoleSlotReport },
      handle: ({ id, body, audit }) => editor.change(id, body, audit),
    }),
    route({
      method: 'DELETE',
      path: '/api/panel/slots/:id',
      summary: 'Removes a slot of the console; its requests in flight finish.',
      audit: 'slot.delete',
      answers: { 204: null },
      handle: ({ id, audit }) => editor.remove(id, audit),
    }),
    historyRoute(gateway, editor),
    ...operationRoutes(gateway, editor),
  ];
}

function historyRoute(gateway: Gateway, editor: SlotEditor): Route {
  return route({
    method: 'GET',
    path: '/api/panel/slots/:id/history',
    summary: 'Changes of the state of a slot, newest first: the latest 500 of the last 30 days.',
    query: Closed({ limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxSlotChanges })) }),
    answers: { 200: ListOf(SlotChangeReport, {}) },
    async handle({ id, query: { limit = 100 } }) {
      editor.find(id);
      const { slotWatch } = await gateway.use(slotHistory);
      const changes = await slotWatch.changes(id, limit);
      return { object: 'list', data: changes.map(slotChangeReport) };
    },
  });
}

/** Any object; its fields are checked later by the rules of the config's slots. */
const AnyObject = Type.Unsafe<Entry>({ type: 'object' });

function operationRoutes({ services: { slots } }: Gateway, editor: SlotEditor): readonly Route[] {
  const verbs = (['pause', 'resume', 'drain'] as const).map((verb) =>
    route({
      method: 'POST',
      path: `/api/panel/slots/:id/${verb}`,
      summary: summaries[verb],
      audit: `slot.${verb}`,
      answers: { 200: ConsoleSlotReport },
      handle({ id, audit }) {
        const { status: before } = editor.find(id);
        slots[verb](editor.serving(id));
        const slot = editor.find(id);
        audit.change({ state: before?.state }, { state: slot.status?.state });
        return editor.report(slot);
      },
    }),
  );
  const diagnose = route({
    method: 'POST',
    path: '/api/panel/slots/:id/diagnose',
    summary:
      "Resolves the upstream's name, calls it through the slot's own proxy if any, and checks its credential, in 10 s.",
    audit: 'slot.diagnose',
    noted: 'An operator diagnosed a slot.',
    answers: { 200: DiagnosisReport },
    async handle({ id, ctx, audit }) {
      const signal = AbortSignal.any([ctx.state.signal, AbortSignal.timeout(diagnosisTimeoutMs)]);
      const report = diagnosisReport(id, await slots.diagnose(editor.serving(id), signal));
      audit.note({ ok: report.ok });
      return report;
    },
  });
  return [...verbs, diagnose];
}

const summaries = {
  pause: 'The slot takes no new requests until it is resumed; those in flight continue.',
  resume: 'Makes the slot ready again, whatever its state was.',
  drain: 'Like pause, for a slot that is going to be removed.',
};
