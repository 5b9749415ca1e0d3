import { readSlot } from '../config/one-slot.js';
import type { SlotConfig } from '../config/config.js';
import { SlotSchema } from '../config/schema.js';
import {
  createPanelApi,
  type Panel,
  type PanelApi,
  type PanelSlot,
  type PanelSlots,
  type PanelStatus,
} from '../console/api/index.js';
import { entryOf, type ConsoleSlot } from './slot-sources.js';
import type { Gateway } from './gateway.js';
import { operationsOf } from './admin-operations.js';
import type { SlotStatus } from '../plugin/index.js';
import { issueKey } from '../keys/issue-key.js';
import { responseTotal } from '../telemetry/state-gauges.js';
import { name, version } from '../version.js';
import { patchSchema } from '../openapi/schema.js';

/** Panel API of a gateway. */
export function openPanel(gateway: Gateway): PanelApi {
  return createPanelApi(panelOf(gateway), issueKey);
}

function panelOf(gateway: Gateway): Panel {
  const { log, store, keys, feed, now, closing } = gateway;
  const { meters } = gateway.live;
  return {
    log,
    store,
    keys,
    feed,
    meters,
    now,
    closing,
    password: gateway.panelPassword,
    slots: slotsOf(gateway),
    operations: operationsOf(gateway),
    written: () => gateway.fleet.written(),
    keysChanged: () => gateway.keysChanged(),
    status: () => statusOf(gateway),
    get models() {
      return gateway.models;
    },
    get pipeline() {
      return { file: gateway.config.file, stages: gateway.pipeline.stages };
    },
  };
}

async function statusOf(gateway: Gateway): Promise<PanelStatus> {
  const { config, ledger, live, isThere, slots, now, startedMs } = gateway;
  const inFlight = await gateway.fleet.inFlight();
  const { instances = inFlight.instances } = live;
  return {
    name,
    version,
    uptimeSeconds: (now() - startedMs) / 1000,
    inFlight,
    slots: { total: slots.list().length, schedulable: slots.schedulable },
    store: {
      kind: config.store.kind,
      ok: isThere.store,
      ledgerRowsWaiting: ledger.waiting,
      responses: await responseTotal(gateway.store.responses).catch(() => undefined), // `ok` says that it is away
    },
    live: { kind: config.live.kind, ok: isThere.live, instances },
    configFile: config.file,
  };
}

function slotsOf(gateway: Gateway): PanelSlots {
  return {
    entrySchema: SlotSchema,
    patchSchema: patchSchema(SlotSchema),
    changed: () => gateway.slotsChanged(),
    check: (entry) => readSlot(entry, 'console', gateway.config.console).problems ?? [],
    list() {
      const { config, slots, slotSources } = gateway;
      const states = new Map(slots.list().map((status) => [status.id, status]));
      const written = writtenSlots(config.written);
      return [
        ...config.slots.map((slot, at) => configuredSlot(slot, written[at] ?? {}, states.get(slot.id))),
        ...slotSources.console.map((slot) => consoleSlot(slot, states.get(slot.stored.id))),
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

function consoleSlot({ stored, problem }: ConsoleSlot, status: SlotStatus | undefined): PanelSlot {
  const { id: _, ...settings } = entryOf(stored);
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
