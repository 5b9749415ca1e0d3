import type { CoolReason } from '../../../plugin/core.js';
import type { Json } from '../../../plugin/index.js';
import type { CooldownMessage } from './cooldowns.js';
import type { FailureCause } from './failure-cause.js';

/**
 * Cooldown as sent to other instances, with its remaining times, since their clocks may differ by minutes.
 */
export interface SentCooldown {
  readonly [field: string]: Json;
  readonly reason: CoolReason;
  readonly model: string | null;
  readonly leftMs: number;
  /** Time until the next check. */
  readonly checkMs: number;
  /** Time until a request may probe the slot; null: it may at any time. */
  readonly askMs: number | null;
  readonly cause: FailureCause | null;
  readonly doubled: number;
  readonly serial: number;
  readonly isOver: boolean;
}

export function sendCooldown(
  { reason, model, cause, doubled, serial, isOver, untilMs, checkAtMs, askAtMs }: CooldownMessage,
  nowMs: number,
): SentCooldown {
  const [leftMs, checkMs] = [untilMs - nowMs, checkAtMs - nowMs];
  const askMs = askAtMs === null ? null : askAtMs - nowMs;
  return { reason, model, cause, doubled, serial, isOver, leftMs, checkMs, askMs };
}

/** Converts a received cooldown; `sentMs` is its send time by the clock of this instance. */
export function receiveCooldown(sent: SentCooldown, sentMs: number): CooldownMessage {
  const { reason, model, doubled, serial, isOver, leftMs } = sent;
  // The message of an earlier version has none of these.
  const { checkMs = leftMs, askMs = null, cause = null } = sent as Partial<SentCooldown>;
  const [untilMs, checkAtMs] = [Math.round(sentMs + leftMs), Math.round(sentMs + checkMs)];
  const askAtMs = askMs === null ? null : Math.round(sentMs + askMs);
  return { reason, model, untilMs, checkAtMs, askAtMs, cause, doubled, serial, isOver };
}

export const cooldownTopic = 'cooldown/';

/** Retention of shared health state: longer than the longest cooldown, and unused state expires. */
export const keptMs = 8 * 24 * 3_600_000;
