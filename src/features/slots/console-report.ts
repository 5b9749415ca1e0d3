import { AdminSlotReport, adminSlotReport } from './admin-report.js';
import { redactAddresses } from '../../kit/schema/redact.js';
import { Type } from '../../plugin/index.js';
import type { SlotStatus } from '../../plugin/core.js';
import type { SlotForecast } from './history/forecasts.js';
import type { ShownSlot } from './shown-slots.js';
import { IsoTime, isoTime, named, Nullable } from '../../operator/schemas.js';
import { forecastReport, WindowForecast } from './history-report.js';

/** A slot as sent by the console API: the fields of `/admin/slots`, and its source and settings. */
export const ConsoleSlotReport = named(
  'PanelSlot',
  Type.Object({
    ...AdminSlotReport.properties,
    state: Type.Enum(['ready', 'cooling', 'rejected', 'paused', 'draining', 'unusable']),
    source: Type.Enum(['config', 'console']),
    place: Nullable(Type.String({ description: 'Where it stands in the config file.' })),
    settings: Type.Record(Type.String(), Type.Unknown(), {
      description: 'As under `slots:` in the config file; what is or may be a secret reads `***`.',
    }),
    updated_at: Nullable(IsoTime),
    forecast: Type.Object(
      { '5h': Nullable(WindowForecast), '7d': Nullable(WindowForecast) },
      {
        description: 'Forecast for the usage windows; null if the slot has none, or it has just been reset.',
      },
    ),
    problem: Nullable(Type.String({ description: 'Why it is disabled.' })),
  }),
);

/** Builds the report on a slot; `sessions` is the number of its bindings in the store. */
export function consoleSlotReport(slot: ShownSlot, sessions: number, forecast?: SlotForecast): object {
  const { source, place, problem, status } = slot;
  const report = status ? adminSlotReport(status) : { ...adminSlotReport(idle(slot)), state: 'unusable' };
  return {
    ...report,
    bindings: Math.max(sessions, status?.bindings ?? 0),
    source,
    place,
    settings: shownSettings(slot),
    updated_at: isoTime(slot.updatedAtMs),
    forecast: { '5h': forecastReport(forecast?.['5h']), '7d': forecastReport(forecast?.['7d']) },
    problem,
  };
}

/** The settings with secrets redacted. */
export function shownSettings({ settings }: ShownSlot): Readonly<Record<string, unknown>> {
  return redactAddresses(settings) as Readonly<Record<string, unknown>>; // the copy of an object is an object
}

/** Status of a slot that is not in the pool. */
function idle({ id, settings, problem }: ShownSlot): SlotStatus {
  const { account } = settings as { readonly account?: { readonly kind?: unknown } };
  return {
    id,
    upstream: typeof settings['upstream'] === 'string' ? settings['upstream'] : '',
    accountKind: typeof account?.kind === 'string' ? account.kind : 'none',
    state: 'paused',
    reason: null,
    untilMs: null,
    checkAtMs: null,
    cause: null,
    models: [],
    inFlight: 0,
    queued: 0,
    maxConcurrent: 0,
    weight: 0,
    serves: [],
    upstreamModels: {},
    bindings: 0,
    windows: { '5h': null, '7d': null },
    lastError: problem,
    lastErrorAtMs: null,
  };
}
