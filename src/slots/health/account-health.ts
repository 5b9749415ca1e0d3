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
 * How the account of a slot stands with its upstream: cool-downs, rejection, usage windows; the same in all instances
 * that have this account in this slot.
 */
export class AccountHealth {
  /** Tells the account from others that the slot has had or gets elsewhere. */
  readonly digest: string;
  readonly coolDowns: CoolDowns;
  readonly gauge: WindowGauge;
  readonly #board: SharedSlotState;
  readonly #now: () => number;
  readonly #rejection: Rejection;
  readonly #windows: LwwRegister<ToldWindows>;
  /** Calls that began before this say nothing about the credential. */
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

  /** The upstream refuses the credential in a call that began at `began`; true where that is news. */
  reject(began: number): boolean {
    if (this.isRejected || began < this.#acceptedAt) return false;
    this.#rejection.begin(this.#now());
    return true;
  }

  /** The upstream takes the credential again. */
  accept(): void {
    if (!this.isRejected) return;
    this.#rejection.end();
    this.#acceptedAt = this.coolDowns.advance();
  }

  /** Nothing is held against it any more. */
  forgive(): void {
    this.accept();
    this.coolDowns.clear();
  }

  /** Whether an instance has asked a rejected account within the last `ms` milliseconds whether it is let in again. */
  wasProbedWithin(ms: number): boolean {
    return this.#board.get('probed') !== undefined && this.#board.ageMs('probed', keptMs) < ms;
  }

  /** A rejection that lasts is told again, so that it is not forgotten. */
  noteProbe(): void {
    this.#board.tell('probed', true, keptMs);
    if (this.isRejected) this.#rejection.tellAgain();
  }

  /** Takes what the others know already. */
  join(): void {
    for (const [topic, value] of this.#board.all()) this.hear(topic, value);
  }

  /** Takes what another instance tells. */
  hear(topic: string, value: Json): void {
    // each as the same version of this file wrote it
    if (topic === 'rejection') this.#hearRejection(value as ToldRejection);
    else if (topic === 'windows') this.#hearWindows(value as Told<ToldWindows>);
    else if (topic.startsWith(coolDownTopic)) this.#hearCoolDown(topic, value as SentCoolDown);
  }

  /** The slot has another account now. */
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

/** Reset times are absolute, for they are the upstream's, by its own clock. */
type ToldWindow = { readonly percentUsed: number; readonly resetsAtMs: number } | null;
export type ToldWindows = { readonly '5h': ToldWindow; readonly '7d': ToldWindow };

function jsonOf(windows: Windows): ToldWindows {
  return { '5h': windows['5h'] && { ...windows['5h'] }, '7d': windows['7d'] && { ...windows['7d'] } };
}

/** Every answer may bring other numbers. */
const windowsEveryMs = 100;
