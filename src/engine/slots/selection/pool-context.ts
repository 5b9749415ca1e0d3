import type { CatalogModel, Clock, GatewayError, Logger } from '../../../plugin/index.js';
import type { CoolReason, Price } from '../../../plugin/core.js';
import type { Bindings } from '../sticky/bindings.js';
import type { Lease } from './lease.js';
import type { PermitQueue } from './permit-queue.js';
import type { SessionClaims } from '../sticky/session-claims.js';
import type { SessionOrigins } from '../sticky/session-origins.js';
import type { SlotEntry, WantedModel } from '../pool/slot-entry.js';
import type { FairQueueing } from './fair-queueing.js';
import type { OnChoice } from './observed-choice.js';
import type { CooldownPolicy, SlotConfig } from '../../../config/config.js';
import type { FailureCause } from '../health/failure-cause.js';
import type { Cooling } from '../health/transitions.js';
import type { WaysOut } from '../health/ways-out.js';
import type { UpstreamSlot } from '../upstream/upstream-slot.js';

/** Finds the prices that a model lacks at a slot. */
export type FindPriceGaps = (
  model: Pick<CatalogModel, 'id' | 'price'>,
  slot: Pick<SlotConfig, 'prices' | 'discount'>,
) => readonly (keyof Price)[];

/** View of the pool for a request that acquires a permit. */
export interface PoolContext {
  readonly queue: PermitQueue;
  readonly fairness: FairQueueing;
  readonly bindings: Bindings;
  readonly claims: SessionClaims;
  readonly origins: SessionOrigins;
  readonly waysOut: WaysOut;
  readonly log: Logger;
  /** Max waiting requests. */
  readonly queueCapacity: () => number;
  /** Slots that may be used. */
  readonly entries: () => readonly SlotEntry[];
  /** Error for a model that none of them serves. */
  readonly notServed: (model: WantedModel) => GatewayError;
  readonly clock: Clock;
  readonly now: () => number;
  /** Announces a changed state, so that waiting requests try again. */
  readonly changed: () => void;
  /** Announces it once the current code has ended, for states that change within an attempt. */
  readonly changedSoon: () => void;
  /** Version number, incremented with every change of state. */
  readonly version: () => number;
  /** Schedules a retry for requests that wait for a slot, which may have room despite a refused permit. */
  readonly retryLater: (slotId: string) => void;
  /** Announces that a permit of a slot was released. */
  readonly freed: (slotId: string) => void;
  readonly isClosed: () => boolean;
  readonly priceGaps: FindPriceGaps;
  /** Notified of each choice of a slot; absent without an observer. */
  readonly onChoice?: OnChoice | undefined;
}

type Reporter = Pick<PoolContext, 'log' | 'now' | 'changed'>;

/**
 * Rejects a slot after a refused call that began at `began`: closed until an operator or a successful probe
 * opens it.
 */
export function reject({ id, health }: UpstreamSlot, began: number, { log, changed }: Reporter): void {
  if (!health.reject(began)) return;
  log.error(
    { slot: id },
    "The slot is rejected: its upstream refuses the account's credential. Renew the credential, then resume the slot.",
  );
  changed();
}

/** Cooldown that begins: its cause, and the cooldowns of its slot. */
interface Begun {
  readonly cause: FailureCause;
  readonly policy: CooldownPolicy;
}

/** Starts a cooldown of the slot, or of its upstream's model, after a call of this lease. */
export function startCooldown(
  { slot, upstreamModel, began }: Pick<Lease, 'slot' | 'upstreamModel' | 'began'>,
  cooling: Cooling,
  { cause, policy }: Begun,
  { log, now, changed }: Reporter,
): void {
  const { id, health } = slot;
  const { cooldowns } = health;
  const nowMs = now();
  const backoff = policy[backoffs[cooling.reason]];
  const begins = { ...cooling, backoff, checkAfterMs: policy.maxMs, cause };
  if (!cooldowns.add(begins, upstreamModel, began, nowMs)) return;
  const until = cooldowns.active(upstreamModel, nowMs)?.untilMs ?? nowMs;
  const { status, header, message } = cause;
  const fields = {
    slot: id,
    model: upstreamModel,
    reason: cooling.reason,
    ms: until - nowMs,
    status,
    header,
    // No answer came, so that the text is the gateway's own: ENOTFOUND, ECONNREFUSED, a time-out.
    ...(status === null && { cause: message }),
  };
  log.warn(fields, 'The slot is in cooldown.');
  changed();
}

const backoffs: Readonly<Record<CoolReason, Exclude<keyof CooldownPolicy, 'maxMs'>>> = {
  rate_limited: 'rateLimited',
  window_exhausted: 'rateLimited',
  overloaded: 'overloaded',
  unreachable: 'unreachable',
};
