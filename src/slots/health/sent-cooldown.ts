import type { CoolReason, Json } from '../../plugin/index.js';
import type { ToldCoolDown } from './cooldowns.js';

/** A cool-down on its way to other instances, with what was left of it: their clocks may differ by minutes. */
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
  { reason, model, doubled, serial, isOver, untilMs }: ToldCoolDown,
  nowMs: number,
): SentCoolDown {
  return { reason, model, doubled, serial, isOver, leftMs: untilMs - nowMs };
}

/** `sentMs`: when it was sent, by the clock of this instance. */
export function receiveCoolDown(
  { reason, model, doubled, serial, isOver, leftMs }: SentCoolDown,
  sentMs: number,
): ToldCoolDown {
  return { reason, model, doubled, serial, isOver, untilMs: Math.round(sentMs + leftMs) };
}

export const coolDownTopic = 'cooldown/';

/** Longer than the longest cool-down, so that none is forgotten, and what nobody uses goes by itself. */
export const keptMs = 8 * 24 * 3_600_000;
