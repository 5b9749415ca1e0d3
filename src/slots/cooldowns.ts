import type { CoolReason } from '../plugin/index.js';
import type { Cooling } from './transitions.js';

export interface CoolDown {
  readonly reason: CoolReason;
  /** The upstream model that it holds for; undefined: the whole slot. */
  readonly model: string | undefined;
  readonly untilMs: number;
  /** How often it was doubled. */
  readonly doubled: number;
  /** Its number among the slot's cool-downs. */
  readonly mark: number;
}

/**
 * The cool-downs of one slot. One that is over is kept for its doubling until a success clears it. Calls carry the mark
 * of the moment they began, since what was under way before a cool-down began says nothing about it.
 */
export class CoolDowns {
  readonly #byKey = new Map<string, CoolDown>();
  #mark = 0;

  /** What a call that begins now has to show when it ends. */
  get mark(): number {
    return this.#mark;
  }

  /** The one that keeps a model from being asked for longest; `undefined` asks for the slot as a whole. */
  active(model: string | undefined, nowMs: number): CoolDown | undefined {
    let longest: CoolDown | undefined;
    for (const each of this.#byKey.values()) {
      if (each.untilMs <= nowMs || (each.model !== undefined && each.model !== model)) continue;
      if (!longest || each.untilMs > longest.untilMs) longest = each;
    }
    return longest;
  }

  /** All that are not over. */
  list(nowMs: number): readonly CoolDown[] {
    return [...this.#byKey.values()].filter(({ untilMs }) => untilMs > nowMs);
  }

  /**
   * Begins a cool-down, or doubles the one that was there; true where it is a new one. A failure of a call that began
   * before it did cannot double it while it lasts: a hundred calls that fail together are one failure.
   */
  add(cooling: Cooling, model: string, began: number, nowMs: number): boolean {
    const scope = cooling.scope === 'model' ? model : undefined;
    const key = JSON.stringify([cooling.reason, scope]);
    const known = this.#byKey.get(key);
    const toldMs = cooling.untilMs === undefined ? undefined : Math.min(cooling.untilMs, nowMs + longestMs);
    if (known && known.mark > began && known.untilMs > nowMs) {
      this.#byKey.set(key, { ...known, untilMs: Math.max(known.untilMs, toldMs ?? 0) });
      return false;
    }
    const doubled = known ? known.doubled + 1 : 0;
    const { backoff } = cooling;
    const untilMs = toldMs ?? nowMs + Math.min(backoff.firstMs * 2 ** doubled, backoff.longestMs);
    this.#mark += 1;
    this.#keep(key, { reason: cooling.reason, model: scope, untilMs, doubled, mark: this.#mark });
    return true;
  }

  /** A call that began at `began` has succeeded: what kept the slot or this model before that is over. True if any did. */
  succeed(model: string, began: number): boolean {
    const before = this.#byKey.size;
    for (const [key, each] of this.#byKey) {
      if (each.mark <= began && (each.model === undefined || each.model === model)) this.#byKey.delete(key);
    }
    return this.#byKey.size < before;
  }

  clear(): void {
    this.#byKey.clear();
  }

  /** Callers can make up model names where a slot serves all of them: the oldest cool-down goes. */
  #keep(key: string, coolDown: CoolDown): void {
    this.#byKey.delete(key);
    this.#byKey.set(key, coolDown);
    const [oldest] = this.#byKey.keys();
    if (this.#byKey.size > most && oldest !== undefined) this.#byKey.delete(oldest);
  }
}

const most = 256;

/** The length of the longest window: a header that names a later time is wrong. */
const longestMs = 7 * 24 * 3_600_000;
