import type { CacheStats, CoolReason } from '../../../plugin/core.js';
import type { Json } from '../../../plugin/index.js';
import type { Backoff } from '../../../config/config.js';
import { nextSerial } from '../replicated/lww-register.js';
import type { FailureCause } from './failure-cause.js';
import type { Cooling } from './transitions.js';

export interface Cooldown {
  readonly reason: CoolReason;
  /** Upstream model of the cooldown; undefined: the whole slot. */
  readonly model: string | undefined;
  readonly untilMs: number;
  /** Time from which one request at a time may probe the slot; at the latest the end. */
  readonly checkAtMs: number;
  /**
   * Time from which one request that no other slot serves may probe the slot, if its provider has named a long wait;
   * null: all such requests may.
   */
  readonly askAtMs: number | null;
  readonly cause: FailureCause | null;
  /** Number of times that the backoff was doubled. */
  readonly doubled: number;
  /** Serial for last-writer-wins: of two cooldowns of one key the higher is newer, on any instance. */
  readonly serial: number;
  /** Sequence number among the cooldowns known to this instance. */
  readonly mark: number;
}

/** Published form of a cooldown; `isOver`: a call has succeeded since. */
export interface CooldownMessage {
  readonly [field: string]: Json;
  readonly reason: CoolReason;
  /** Null: the whole slot. */
  readonly model: string | null;
  readonly untilMs: number;
  readonly checkAtMs: number;
  readonly askAtMs: number | null;
  readonly cause: FailureCause | null;
  readonly doubled: number;
  readonly serial: number;
  readonly isOver: boolean;
}

/** Cooldown that begins, with the settings of its slot. */
export interface NewCooldown extends Cooling {
  readonly backoff: Backoff;
  /** Time until the first check. */
  readonly checkAfterMs: number;
  readonly cause: FailureCause | null;
}

/** Publishes a cooldown; undefined: the published one is deleted. */
export type PublishCooldown = (key: string, message: CooldownMessage | undefined) => void;

/**
 * Cooldowns of one account, merged by last-writer-wins, so that all instances reach the same state in any order of
 * messages; at the same serial an end wins. An expired cooldown is kept for its backoff until a success clears it, and
 * calls carry the mark of their start, since an earlier call does not affect a later cooldown.
 */
export class Cooldowns {
  readonly #publish: PublishCooldown;
  readonly #byKey = new Map<string, Cooldown>();
  /** Serials of cleared cooldowns. */
  readonly #cleared = new Map<string, number>();
  #mark = 0;

  constructor(publish: PublishCooldown = () => undefined) {
    this.#publish = publish;
  }

  /** Cache statistics, including cleared cooldowns. */
  get fill(): CacheStats {
    return { entries: this.#byKey.size + this.#cleared.size, capacity: 2 * maxCooldowns };
  }

  /** Mark for a call that begins now, passed back when the call ends. */
  get mark(): number {
    return this.#mark;
  }

  /** Starts a new mark, for the calls that begin from now on. */
  advance(): number {
    this.#mark += 1;
    return this.#mark;
  }

  /** Longest active cooldown of a model, slot-wide ones included; `undefined`: of the slot as a whole. */
  active(model: string | undefined, nowMs: number): Cooldown | undefined {
    let longest: Cooldown | undefined;
    for (const each of this.#byKey.values()) {
      if (each.untilMs <= nowMs || !concerns(each, model)) continue;
      if (!longest || each.untilMs > longest.untilMs) longest = each;
    }
    return longest;
  }

  /** True if a cooldown keeps a model from being served, and it is not yet due for a check. */
  blocks(model: string, nowMs: number): boolean {
    for (const each of this.#byKey.values()) if (each.checkAtMs > nowMs && concerns(each, model)) return true;
    return false;
  }

  /**
   * Begins a check of a cooling slot that is due: for `forMs` no other request, on any instance, checks it. Returns the
   * function that releases the check; undefined if there is nothing to check, or too early.
   */
  beginCheck(model: string, nowMs: number, forMs: number): (() => void) | undefined {
    if (this.#byKey.size === 0 || this.blocks(model, nowMs)) return undefined;
    const due = [...this.#byKey].filter(([, each]) => each.untilMs > nowMs && concerns(each, model));
    if (due.length === 0) return undefined;
    const begun = due.map(([key, each]) => {
      const checkAtMs = Math.min(each.untilMs, nowMs + forMs);
      const checked = { ...each, checkAtMs, serial: nextSerial(each.serial, nowMs) };
      this.#change(key, checked);
      return [key, checked] as const;
    });
    return () => {
      for (const [key, { serial }] of begun) {
        const known = this.#byKey.get(key);
        if (known?.serial === serial)
          this.#change(key, { ...known, checkAtMs: nowMs, serial: nextSerial(serial, nowMs) });
      }
    };
  }

  /** True if the provider of a cooling slot has named a long wait, and has been asked within the last minute. */
  refusesAsks(model: string, nowMs: number): boolean {
    for (const { untilMs, askAtMs, ...each } of this.#byKey.values())
      if (askAtMs !== null && Math.min(askAtMs, untilMs) > nowMs && concerns(each, model)) return true;
    return false;
  }

  /**
   * Records that a request probes a slot with a long wait of its provider, so that for a minute no other one does, on
   * any instance. True if there is such a cooldown.
   */
  noteAsk(model: string, nowMs: number): boolean {
    const asked = [...this.#byKey].filter(
      ([, each]) => each.askAtMs !== null && each.untilMs > nowMs && concerns(each, model),
    );
    for (const [key, each] of asked)
      this.#change(key, { ...each, askAtMs: nowMs + askEveryMs, serial: nextSerial(each.serial, nowMs) });
    return asked.length > 0;
  }

  /** Cooldowns that have not expired. */
  list(nowMs: number): readonly Cooldown[] {
    return [...this.#byKey.values()].filter(({ untilMs }) => untilMs > nowMs);
  }

  /** Times at which cooldowns are due for a check, or over. */
  changeTimes(nowMs: number): readonly number[] {
    return this.list(nowMs).map(({ checkAtMs, untilMs }) => (checkAtMs > nowMs ? checkAtMs : untilMs));
  }

  /**
   * Begins a cooldown, or doubles the backoff of the known one; true if a new one begins. A failed call that
   * began before an active cooldown does not double it: a hundred calls that fail together count as one
   * failure.
   */
  add(cooling: NewCooldown, model: string, began: number, nowMs: number): boolean {
    const scope = cooling.scope === 'model' ? model : undefined;
    const key = JSON.stringify([cooling.reason, scope]);
    const known = this.#byKey.get(key);
    const givenMs = cooling.untilMs === undefined ? undefined : Math.min(cooling.untilMs, nowMs + maxMs);
    const askAtMs = isLongWait(cooling, givenMs, nowMs) ? nowMs + askEveryMs : null;
    if (known && known.mark > began && known.untilMs > nowMs) {
      if (givenMs !== undefined && givenMs > known.untilMs)
        this.#change(key, { ...known, untilMs: givenMs, askAtMs: known.askAtMs ?? askAtMs });
      return false;
    }
    const doubled = known ? known.doubled + 1 : 0;
    const { backoff, reason, cause, checkAfterMs } = cooling;
    const untilMs = givenMs ?? nowMs + Math.min(backoff.firstMs * 2 ** doubled, backoff.maxMs);
    const serial = nextSerial(known?.serial ?? this.#cleared.get(key), nowMs);
    const checkAtMs = Math.min(untilMs, nowMs + checkAfterMs);
    const mark = this.advance();
    this.#change(key, { reason, model: scope, untilMs, checkAtMs, askAtMs, cause, doubled, serial, mark });
    return true;
  }

  /**
   * Clears the cooldowns of the slot and of this model that were known at `began`, after a call has
   * succeeded. True if there were any.
   */
  succeed(model: string, began: number): boolean {
    const before = this.#byKey.size;
    for (const [key, each] of this.#byKey) {
      if (each.mark <= began && concerns(each, model)) this.#end(key, each);
    }
    return this.#byKey.size < before;
  }

  clear(): void {
    for (const [key, each] of this.#byKey) this.#end(key, each);
  }

  /** Merges a message of another instance; publishes the own cooldown again if that is newer. */
  merge(key: string, message: CooldownMessage): void {
    const known = this.#byKey.get(key);
    const cleared = this.#cleared.get(key) ?? 0;
    if (known && known.serial === message.serial && !message.isOver) return this.#merge(key, known, message);
    if (message.serial < Math.max(known?.serial ?? 0, cleared)) return this.#republish(key, known, message);
    if (message.isOver) {
      this.#byKey.delete(key);
      storeNewest(this.#cleared, key, message.serial);
    } else if (message.serial > cleared) {
      const mark = known && isSame(known, message) ? known.mark : this.advance();
      storeNewest(this.#byKey, key, cooldownOf(message, mark));
    } else this.#republish(key, known, message);
  }

  /** Merges two cooldowns that began or were extended at the same time: later end, longer backoff. */
  #merge(key: string, known: Cooldown, message: CooldownMessage): void {
    const untilMs = Math.max(known.untilMs, message.untilMs);
    const doubled = Math.max(known.doubled, message.doubled);
    const checkAtMs = Math.max(known.checkAtMs, message.checkAtMs);
    const askAtMs = latest(known.askAtMs, message.askAtMs);
    this.#byKey.set(key, { ...known, untilMs, checkAtMs, askAtMs, doubled });
    if (untilMs > message.untilMs + clockToleranceMs || doubled !== message.doubled)
      this.#publish(key, { ...message, untilMs, checkAtMs, askAtMs, doubled });
  }

  #republish(key: string, known: Cooldown | undefined, message: CooldownMessage): void {
    const serial = this.#cleared.get(key) ?? 0;
    this.#publish(key, known ? messageOf(known, false) : { ...message, serial, isOver: true });
  }

  #change(key: string, cooldown: Cooldown): void {
    const oldest = storeNewest(this.#byKey, key, cooldown);
    this.#publish(key, messageOf(cooldown, false));
    if (oldest !== undefined) this.#publish(oldest, undefined);
  }

  #end(key: string, cooldown: Cooldown): void {
    this.#byKey.delete(key);
    const oldest = storeNewest(this.#cleared, key, cooldown.serial);
    this.#publish(key, messageOf(cooldown, true));
    if (oldest !== undefined && !this.#byKey.has(oldest)) this.#publish(oldest, undefined);
  }
}

/** True for a wait of more than a minute that a provider has named in a 429. */
function isLongWait({ reason, cause }: NewCooldown, givenMs = 0, nowMs: number): boolean {
  return reason === 'rate_limited' && cause?.status === 429 && givenMs - nowMs > askEveryMs;
}

function latest(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

/** True for a cooldown of this model, or of the whole slot. */
function concerns({ model: own }: Pick<Cooldown, 'model'>, model: string | undefined): boolean {
  return own === undefined || own === model;
}

/** True for a message about the current period that changes only the time of its check. */
function isSame(known: Cooldown, { untilMs, doubled }: CooldownMessage): boolean {
  return known.doubled === doubled && Math.abs(known.untilMs - untilMs) <= clockToleranceMs;
}

function messageOf(cooldown: Cooldown, isOver: boolean): CooldownMessage {
  const { mark: _, model = null, ...rest } = cooldown;
  return { ...rest, model, isOver };
}

function cooldownOf(message: CooldownMessage, mark: number): Cooldown {
  const { reason, model, untilMs, checkAtMs, askAtMs, cause, doubled, serial } = message;
  return { reason, model: model ?? undefined, untilMs, checkAtMs, askAtMs, cause, doubled, serial, mark };
}

/**
 * Stores a value and returns the evicted oldest key, if any. The max is needed because callers can invent
 * model names if a slot serves all of them.
 */
function storeNewest<Value>(map: Map<string, Value>, key: string, value: Value): string | undefined {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size <= maxCooldowns || oldest === undefined) return undefined;
  map.delete(oldest);
  return oldest;
}

/** Tolerance for times from other instances. */
const clockToleranceMs = 50;

/** Time between two requests to a slot whose provider has named a longer wait. */
const askEveryMs = 60_000;

const maxCooldowns = 256;

/** Length of the longest window, the max of a cooldown: a header with a later time is wrong. */
const maxMs = 7 * 24 * 3_600_000;
