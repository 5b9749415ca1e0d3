import type { SlotConfig } from '../../config/config.js';
import { maskedSlot } from '../../operator/masked-config.js';
import { entryOf, type ConsoleSlot } from '../../gateway/slots/slot-sources.js';
import type { Gateway } from '../../gateway/gateway.js';
import type { SlotStatus } from '../../plugin/core.js';

/** A slot of the config file or of the console. */
export interface ShownSlot {
  readonly id: string;
  readonly source: 'config' | 'console';
  /** Position such as `config/gateway.yaml:40:5`; null for a slot of the console. */
  readonly place: string | null;
  /** As written under `slots:`, without options that the plugins mark as secret; header values are included. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Unix milliseconds. */
  readonly updatedAtMs: number | null;
  /** Undefined if the slot is not in the pool. */
  readonly status: SlotStatus | undefined;
  /** The reason why the slot is not in the pool. */
  readonly problem: string | null;
}

/** The slots of the config file and of the console, without options that their plugins mark as secret. */
export function shownSlots({ runtime, services }: Gateway): readonly ShownSlot[] {
  const { config } = runtime;
  const { slots, slotSources } = services;
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
}

type Settings = ShownSlot['settings'];

/** Entries under `slots:` as written in the file, already checked. */
function writtenSlots(written: unknown): readonly Settings[] {
  return (written as { readonly slots: readonly Settings[] }).slots;
}

function configuredSlot(slot: SlotConfig, written: Settings, status: SlotStatus | undefined): ShownSlot {
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
): ShownSlot {
  const { id: _, ...settings } = shown;
  return {
    id: stored.id,
    source: 'console',
    place: null,
    settings,
    updatedAtMs: stored.updatedAtMs,
    status: problem === undefined ? status : undefined,
    problem: problem ?? (status ? null : 'It is not active yet.'),
  };
}
