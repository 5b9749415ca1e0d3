import type { SlotConfig } from '../../config/config.js';
import { SlotSchema } from '../../config/schema.js';
import {
  createPanelApi,
  type Panel,
  type PanelApi,
  type PanelSlot,
  type PanelSlots,
  type PanelStatus,
} from '../../operator/panel-routes.js';
import { maskedSlot } from '../../operator/masked-config.js';
import { panelPipeline } from '../pipeline/stages.js';
import { slotKinds } from './kinds.js';
import { readConsoleSlot } from '../../gateway/slots/console-slots.js';
import { entryOf, type ConsoleSlot } from '../../gateway/slots/slot-sources.js';
import type { Gateway } from '../../gateway/gateway.js';
import { countsBudgets, uncountedBudgets } from '../../gateway/budgets.js';
import { isUp } from '../../gateway/services.js';
import { usedLimits } from '../../gateway/used-limits.js';
import { operationsOf } from '../pipeline/admin-operations.js';
import { playgroundOf } from '../playground/playground.js';
import type { Live, ServedRoute, SlotStatus } from '../../plugin/core.js';
import { issueAdminToken } from '../../state/keys/admin-tokens.js';
import { issueKey, makeKeySecret } from '../../state/keys/keys.js';
import { responseTotal } from '../metrics/state-gauges.js';
import { name, version } from '../../kit/version.js';
import { patchSchema } from '../../kit/schema/json-schema.js';

/** Panel API of a gateway. */
export function openPanel(gateway: Gateway): PanelApi {
  return createPanelApi(panelOf(gateway), { keys: { issueKey, makeKeySecret }, adminToken: issueAdminToken });
}

function panelOf(gateway: Gateway): Panel {
  const { services, feed, closing } = gateway;
  const sessions = sessionNews(services.live.messages);
  return {
    ...services,
    feed,
    closing,
    meters: services.live.meters,
    password: gateway.panelPassword,
    get people() {
      return gateway.runtime.config.panel;
    },
    sessionsChanged: () => sessions.tell(),
    onSessionsChanged: (listener) => sessions.listen(listener),
    slots: slotsOf(gateway),
    operations: operationsOf(gateway),
    playground: playgroundOf(gateway),
    flushLedger: () => gateway.fleet.flushLedger(),
    status: () => statusOf(gateway),
    servesModel: (name) => gateway.services.knownModels.served.serves(name),
    get models() {
      return gateway.runtime.models;
    },
    get formats() {
      return gateway.runtime.formats.map(({ name }) => name);
    },
    get pages() {
      return pagesOf(gateway.runtime.pipeline.routes);
    },
    pipeline: () => panelPipeline(gateway),
    get countsBudgets() {
      return countsBudgets(gateway.runtime.pipeline);
    },
    usedLimits: (holder, limits) => usedLimits(holder, services, limits),
    get configFile() {
      return gateway.runtime.config.file;
    },
  };
}

/** Tells the instances that a session has ended: their messages go to the others only. */
function sessionNews(messages: Live['messages']) {
  const listeners: (() => void)[] = [];
  const call = (): void => {
    for (const listener of listeners) listener();
  };
  messages.receive('sessions', call);
  return {
    listen: (listener: () => void) => void listeners.push(listener),
    tell(): void {
      messages.send('sessions', null);
      call();
    },
  };
}

function pagesOf(routes: readonly ServedRoute[]): Panel['pages'] {
  return routes.flatMap(({ page, path, stage }) =>
    page === undefined ? [] : { title: page, url: path, stage },
  );
}

async function statusOf(gateway: Gateway): Promise<PanelStatus> {
  const { config } = gateway.runtime;
  const { ledger, live, slots, now, store } = gateway.services;
  const up = isUp(gateway.services);
  const inFlight = await gateway.fleet.inFlight();
  const { instances = inFlight.instances } = live;
  return {
    name,
    version,
    uptimeSeconds: (now() - gateway.startedMs) / 1000,
    inFlight,
    slots: { total: slots.list().length, schedulable: slots.schedulable },
    store: {
      kind: config.store.kind,
      ok: up.store,
      ledgerRowsWaiting: ledger.waiting,
      responses: await responseTotal(store.responses).catch(() => undefined), // reported by `ok`
    },
    live: { kind: config.live.kind, ok: up.live, instances },
    configFile: config.file,
    notices: await noticesOf(gateway),
  };
}

/** Sentences of stages, and about budgets that nothing counts. */
async function noticesOf({ runtime: { pipeline }, services }: Gateway): Promise<readonly string[]> {
  const uncounted = await uncountedBudgets(pipeline, services.store).catch(() => undefined); // of a store that is away
  return uncounted === undefined ? pipeline.notices : [...pipeline.notices, uncounted];
}

function slotsOf(gateway: Gateway): PanelSlots {
  return {
    entrySchema: SlotSchema,
    patchSchema: patchSchema(SlotSchema),
    kinds: () => slotKinds(gateway.runtime.config),
    changed: () => gateway.slotsChanged(),
    check: async (entry) => (await readConsoleSlot(entry, gateway.runtime.config)).problems,
    list() {
      const { config } = gateway.runtime;
      const { slots, slotSources } = gateway.services;
      const states = new Map(slots.list().map((status) => [status.id, status]));
      const written = writtenSlots(config.written);
      return [
        ...config.slots.map((slot, at) =>
          configuredSlot(slot, maskedSlot(written[at] ?? {}, slot.id, slots), states.get(slot.id)),
        ),
        ...slotSources.console.map((slot) => {
          const { id } = slot.stored;
          return consoleSlot(slot, maskedSlot(entryOf(slot.stored), id, slots), states.get(id));
        }),
      ];
    },
  };
}

type Settings = PanelSlot['settings'];

/** Entries under `slots:` as written in the file, already checked. */
function writtenSlots(written: unknown): readonly Settings[] {
  return (written as { readonly slots: readonly Settings[] }).slots;
}

function configuredSlot(slot: SlotConfig, written: Settings, status: SlotStatus | undefined): PanelSlot {
  const { id: _, ...settings } = written;
  const { file, line, column } = slot.at;
  return {
    id: slot.id,
    source: 'config',
    place: `${file}:${line}:${column}`,
    settings,
    updatedAtMs: null,
    status,
    problem: null,
  };
}

function consoleSlot(
  { stored, problem }: ConsoleSlot,
  shown: Settings,
  status: SlotStatus | undefined,
): PanelSlot {
  const { id: _, ...settings } = shown;
  return {
    id: stored.id,
    source: 'console',
    place: null,
    settings,
    updatedAtMs: stored.updatedAtMs,
    status: problem === undefined ? status : undefined,
    problem: problem ?? (status ? null : 'It has not been taken into the pool yet.'),
  };
}
