import type { SlotStatus } from '../../../plugin/core.js';
import type { SlotEntry } from './slot-entry.js';

/** Status of a slot, as shown by `/admin/slots`. */
export function statusOf(
  entry: SlotEntry,
  counts: Pick<SlotStatus, 'queued' | 'bindings'>,
  nowMs: number,
): SlotStatus {
  const { config, slot } = entry;
  const state = entry.state(nowMs);
  const cooldown = state === 'cooling' ? entry.cooldown(nowMs) : undefined;
  return {
    ...counts,
    id: entry.id,
    upstream: config.upstream,
    accountKind: slot.accountKind,
    state,
    reason: cooldown?.reason ?? null,
    untilMs: cooldown?.untilMs ?? null,
    checkAtMs: cooldown?.checkAtMs ?? null,
    cause: cooldown?.cause ?? (state === 'rejected' ? entry.lastError : null),
    models: entry.cooldowns
      .list(nowMs)
      .flatMap(({ model, reason, untilMs, checkAtMs, cause }) =>
        model === undefined ? [] : { model, reason, untilMs, checkAtMs, cause },
      ),
    inFlight: entry.inFlight,
    maxConcurrent: config.maxConcurrent,
    weight: config.weight,
    serves: slot.discovered.isOn ? slot.discovered.list.map(({ id }) => id) : config.models,
    upstreamModels: config.upstreamModels ?? {},
    windows: slot.windows,
    lastError: entry.lastError?.message ?? null,
    lastErrorAtMs: entry.lastError?.atMs ?? null,
  };
}
