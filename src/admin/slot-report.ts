import type { SlotStatus, Window } from '../plugin/index.js';

/** A slot as `/admin/slots` shows it: snake case, times as ISO 8601. */
export function slotReport(slot: SlotStatus): object {
  return {
    id: slot.id,
    upstream: slot.upstream,
    account: slot.accountKind,
    state: slot.state,
    reason: slot.reason,
    until: isoTime(slot.untilMs),
    cooling_models: slot.models.map(({ model, reason, untilMs }) => ({
      model,
      reason,
      until: isoTime(untilMs),
    })),
    in_flight: slot.inFlight,
    queued: slot.queued,
    max_concurrent: slot.maxConcurrent,
    weight: slot.weight,
    models: slot.serves,
    bindings: slot.bindings,
    windows: { '5h': windowReport(slot.windows['5h']), '7d': windowReport(slot.windows['7d']) },
    last_error: slot.lastError,
  };
}

function windowReport(window: Window | null): object | null {
  return window && { percent_used: window.percentUsed, resets_at: isoTime(window.resetsAtMs) };
}

function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
