import type { Clock, Json } from '../../../plugin/index.js';
import type { SharedMap, Windows } from '../../../plugin/core.js';
import { accountDigest, SharedSlotState, type AccountIdentity } from '../replicated/shared-slot-state.js';
import { Cooldowns } from './cooldowns.js';
import { cooldownTopic, keptMs, receiveCooldown, sendCooldown, type SentCooldown } from './sent-cooldown.js';
import { LwwRegister, type Stamped } from '../replicated/lww-register.js';
import { WindowGauge } from './windows.js';

export interface AccountHealthOptions {
  readonly shared: SharedMap;
  readonly clock: Clock;
}

/**
 * Health of a slot's account at its upstream: cooldowns, rejection, usage windows. Shared by all instances
 * with this account in this slot.
 */
export class AccountHealth {
  /** Digest that distinguishes this account from other accounts of the slot. */
  readonly digest: string;
  readonly cooldowns: Cooldowns;
  readonly gauge: WindowGauge;
  readonly #shared: SharedSlotState;
  readonly #now: () => number;
  readonly #rejection: LwwRegister<boolean>;
  readonly #windows: LwwRegister<SharedWindows>;
  /** Mark of the last acceptance: earlier calls do not affect the credential. */
  #acceptedAt = 0;

  constructor(config: AccountIdentity & { readonly id: string }, options: AccountHealthOptions) {
    const { clock } = options;
    const { now } = clock;
    this.digest = accountDigest(config);
    const shared = new SharedSlotState(options.shared, config.id, this.digest);
    this.#shared = shared;
    this.#now = now;
    this.cooldowns = new Cooldowns((key, message) => {
      if (message) shared.publish(cooldownTopic + key, sendCooldown(message, now()), keptMs);
      else shared.forget(cooldownTopic + key);
    });
    this.#rejection = new LwwRegister<boolean>(false, {
      now,
      publish: ({ value, serial }) => shared.publish('rejection', { isRejected: value, serial }, keptMs),
      wins: (isRejected) => !isRejected,
    });
    this.gauge = new WindowGauge((windows) => this.#windows.set(jsonOf(windows)));
    this.#windows = new LwwRegister(jsonOf(this.gauge.windows), {
      now,
      publish: (message) => shared.publish('windows', message, keptMs),
      throttle: { clock, everyMs: windowsEveryMs },
    });
  }

  get isRejected(): boolean {
    return this.#rejection.value;
  }

  /** Rejects the account after a refused call that began at `began`; true if that is new. */
  reject(began: number): boolean {
    if (this.isRejected || began < this.#acceptedAt) return false;
    this.#rejection.set(true);
    return true;
  }

  /** Ends the rejection: the upstream accepts the credential again. */
  accept(): void {
    if (!this.isRejected) return;
    this.#rejection.amend(false);
    this.#acceptedAt = this.cooldowns.advance();
  }

  /** Ends the rejection and all cooldowns. */
  clearFailures(): void {
    this.accept();
    this.cooldowns.clear();
  }

  /** True if an instance has probed the rejected account within the last `ms` milliseconds. */
  wasProbedWithin(ms: number): boolean {
    return this.#shared.get('probed') !== undefined && this.#shared.ageMs('probed', keptMs) < ms;
  }

  /** Publishes a probe, and the rejection again, so that the rejection does not expire. */
  noteProbe(): void {
    this.#shared.publish('probed', true, keptMs);
    if (this.isRejected) this.#rejection.republish();
  }

  /** Merges the state that other instances have published already. */
  join(): void {
    for (const [topic, value] of this.#shared.all()) this.merge(topic, value);
  }

  /** Merges a message of another instance. */
  merge(topic: string, value: Json): void {
    // Each value is as the same version of this file wrote it.
    if (topic === 'rejection') this.#mergeRejection(value as RejectionMessage);
    else if (topic === 'windows') this.#mergeWindows(value as Stamped<SharedWindows>);
    else if (topic.startsWith(cooldownTopic)) this.#mergeCooldown(topic, value as SentCooldown);
  }

  /** Stops and deletes the shared state, after the slot got another account. */
  leave(): void {
    this.stop();
    this.#shared.leave();
  }

  stop(): void {
    this.#windows.stop();
  }

  #mergeRejection({ isRejected, serial }: RejectionMessage): void {
    const wasRejected = this.isRejected;
    this.#rejection.merge({ value: isRejected, serial });
    if (wasRejected && !this.isRejected) this.#acceptedAt = this.cooldowns.advance();
  }

  #mergeCooldown(topic: string, sent: SentCooldown): void {
    const sentMs = this.#now() - this.#shared.ageMs(topic, keptMs);
    this.cooldowns.merge(topic.slice(cooldownTopic.length), receiveCooldown(sent, sentMs));
  }

  #mergeWindows(message: Stamped<SharedWindows>): void {
    this.#windows.merge(message);
    this.gauge.set(this.#windows.value);
  }
}

/** Published rejection; at the same serial, its end wins. */
export interface RejectionMessage {
  readonly [field: string]: Json;
  readonly isRejected: boolean;
  readonly serial: number;
}

/** Usage window as published. Its reset time is absolute, because it comes from the upstream's clock. */
type SharedWindow = { readonly percentUsed: number; readonly resetsAtMs: number } | null;
export type SharedWindows = { readonly '5h': SharedWindow; readonly '7d': SharedWindow };

function jsonOf(windows: Windows): SharedWindows {
  return { '5h': windows['5h'] && { ...windows['5h'] }, '7d': windows['7d'] && { ...windows['7d'] } };
}

/** Throttle for published windows, since every reply may change them. */
const windowsEveryMs = 100;
