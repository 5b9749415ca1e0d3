import type { Json, SharedMap, Windows } from '../../plugin/index.js';
import type { SlotConfig } from '../../config/config.js';
import { accountDigest, SharedSlotState } from '../shared/shared-slot-state.js';
import { CoolDowns } from './cooldowns.js';
import { coolDownTopic, keptMs, receiveCoolDown, sendCoolDown, type SentCoolDown } from './sent-cooldown.js';
import { LwwRegister, type Told } from '../shared/lww-register.js';
import { Rejection, type ToldRejection } from './rejection.js';
import type { SetTimer } from '../timers.js';
import { WindowGauge } from './windows.js';

export interface StandingOptions {
  readonly shared: SharedMap;
  readonly setTimer: SetTimer;
  readonly now: () => number;
}

/**
 * Health of a slot's account at its upstream: cooldowns, rejection, usage windows. Shared by all instances
 * with this account in this slot.
 */
export class AccountHealth {
  /** Digest that distinguishes this account from other accounts of the slot. */
  readonly digest: string;
  readonly coolDowns: CoolDowns;
  readonly gauge: WindowGauge;
  readonly #board: SharedSlotState;
  readonly #now: () => number;
  readonly #rejection: Rejection;
  readonly #windows: LwwRegister<ToldWindows>;
  /** Mark of the last acceptance: earlier calls say nothing about the credential. */
  #acceptedAt = 0;

  constructor(config: Pick<SlotConfig, 'id' | 'account' | 'proxy'>, options: StandingOptions) {
    const { shared, setTimer, now } = options;
    this.digest = accountDigest(config);
    const board = new SharedSlotState(shared, config.id, this.digest);
    this.#board = board;
    this.#now = now;
    this.coolDowns = new CoolDowns((key, told) => {
      if (told) board.tell(coolDownTopic + key, sendCoolDown(told, now()), keptMs);
      else board.forget(coolDownTopic + key);
    });
    this.#rejection = new Rejection((told) => board.tell('rejection', told, keptMs));
    this.gauge = new WindowGauge((windows) => this.#windows.set(jsonOf(windows)));
    const pace = { setTimer, now, everyMs: windowsEveryMs };
    this.#windows = new LwwRegister(jsonOf(this.gauge.windows), pace, (told) =>
      board.tell('windows', told, keptMs),
    );
  }

  get isRejected(): boolean {
    return this.#rejection.isRejected;
  }

  /** Rejects the account after a refused call that began at `began`; true if that is new. */
  reject(began: number): boolean {
    if (this.isRejected || began < this.#acceptedAt) return false;
    this.#rejection.begin(this.#now());
    return true;
  }

  /** Ends the rejection: the upstream accepts the credential again. */
  accept(): void {
    if (!this.isRejected) return;
    this.#rejection.end();
    this.#acceptedAt = this.coolDowns.advance();
  }

  /** Ends the rejection and all cooldowns. */
  forgive(): void {
    this.accept();
    this.coolDowns.clear();
  }

  /** True if an instance has probed the rejected account within the last `ms` milliseconds. */
  wasProbedWithin(ms: number): boolean {
    return this.#board.get('probed') !== undefined && this.#board.ageMs('probed', keptMs) < ms;
  }

  /** Publishes a probe, and the rejection again, so that the rejection does not expire. */
  noteProbe(): void {
    this.#board.tell('probed', true, keptMs);
    if (this.isRejected) this.#rejection.tellAgain();
  }

  /** Merges the state that other instances have published already. */
  join(): void {
    for (const [topic, value] of this.#board.all()) this.hear(topic, value);
  }

  /** Merges a message of another instance. */
  hear(topic: string, value: Json): void {
    // Each value is as the same version of this file wrote it.
    if (topic === 'rejection') this.#hearRejection(value as ToldRejection);
    else if (topic === 'windows') this.#hearWindows(value as Told<ToldWindows>);
    else if (topic.startsWith(coolDownTopic)) this.#hearCoolDown(topic, value as SentCoolDown);
  }

  /** Stops and deletes the shared state, after the slot got another account. */
  leave(): void {
    this.stop();
    this.#board.leave();
  }

  stop(): void {
    this.#windows.stop();
  }

  #hearRejection(told: ToldRejection): void {
    const wasRejected = this.isRejected;
    this.#rejection.hear(told);
    if (wasRejected && !this.isRejected) this.#acceptedAt = this.coolDowns.advance();
  }

  #hearCoolDown(topic: string, sent: SentCoolDown): void {
    const toldMs = this.#now() - this.#board.ageMs(topic, keptMs);
    this.coolDowns.hear(topic.slice(coolDownTopic.length), receiveCoolDown(sent, toldMs));
  }

  #hearWindows(told: Told<ToldWindows>): void {
    this.#windows.hear(told);
    this.gauge.set(this.#windows.value);
  }
}

/** Usage window as published. Its reset time is absolute, because it comes from the upstream's clock. */
type ToldWindow = { readonly percentUsed: number; readonly resetsAtMs: number } | null;
export type ToldWindows = { readonly '5h': ToldWindow; readonly '7d': ToldWindow };

function jsonOf(windows: Windows): ToldWindows {
  return { '5h': windows['5h'] && { ...windows['5h'] }, '7d': windows['7d'] && { ...windows['7d'] } };
}

/** Throttle for published windows, since every reply may change them. */
const windowsEveryMs = 100;
