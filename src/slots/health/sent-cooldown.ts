import type { CoolReason, Json } from '../../plugin/internal.js';
import type { CoolDownMessage } from './cooldowns.js';

/**
 * Cooldown as sent to other instances, with its remaining time, since their clocks may differ by minutes.
 */
export interface SentCoolDown {
  readonly [field: string]: Json;
  readonly reason: CoolReason;
  readonly model: string | null;
  readonly leftMs: number;
  readonly doubled: number;
  readonly serial: number;
  readonly isOver: boolean;
}

export function sendCoolDown(
  { reason, model, doubled, serial, isOver, untilMs }: CoolDownMessage,
  nowMs: number,
): SentCoolDown {
  return { reason, model, doubled, serial, isOver, leftMs: untilMs - nowMs };
}

/** Converts a received cooldown; `sentMs` is its send time by the clock of this instance. */
export function receiveCoolDown(
  { reason, model, doubled, serial, isOver, leftMs }: SentCoolDown,
  sentMs: number,
): CoolDownMessage {
  return { reason, model, doubled, serial, isOver, untilMs: Math.round(sentMs + leftMs) };
}

export const coolDownTopic = 'cooldown/';

/** Retention of shared health state: longer than the longest cooldown, and unused state expires. */
export const keptMs = 8 * 24 * 3_600_000;
