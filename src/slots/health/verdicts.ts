import type { PoolContext } from '../selection/pool-context.js';
import type { WantedModel } from '../slot-entry.js';
import type { Cooling } from './transitions.js';
import type { UpstreamSlot } from '../upstream-slot.js';

type Told = Pick<PoolContext, 'log' | 'now' | 'changed'>;

/**
 * Rejects a slot after a refused call that began at `began`: closed until an operator or a successful probe
 * opens it.
 */
export function reject({ id, standing }: UpstreamSlot, began: number, { log, changed }: Told): void {
  if (!standing.reject(began)) return;
  log.error({ slot: id }, "the slot is rejected: its upstream refuses the account's credential");
  changed();
}

/** Starts a cooldown of the slot, or of this model in it, after a call that began at `began`. */
export function cool(
  { id, standing: { coolDowns } }: UpstreamSlot,
  cooling: Cooling,
  { model: { upstreamModel }, began }: { readonly model: WantedModel; readonly began: number },
  { log, now, changed }: Told,
): void {
  const nowMs = now();
  if (!coolDowns.add(cooling, upstreamModel, began, nowMs)) return;
  const until = coolDowns.active(upstreamModel, nowMs)?.untilMs ?? nowMs;
  const fields = { slot: id, model: upstreamModel, reason: cooling.reason, ms: until - nowMs };
  log.warn(fields, 'the slot cools down');
  changed();
}
