import type { CacheStats, CoolReason, Json } from '../../plugin/index.js';
import type { Cooling } from './transitions.js';

export interface CoolDown {
  readonly reason: CoolReason;
  /** The upstream model that it holds for; undefined: the whole slot. */
  readonly model: string | undefined;
  readonly untilMs: number;
  /** How often it was doubled. */
  readonly doubled: number;
  /** Of two cool-downs of one key, the one with the higher number is the newer one, whichever instance began it. */
  readonly serial: number;
  /** Its number among those that this instance has heard of. */
  readonly mark: number;
}

/** A cool-down as the instances tell each other of it; `isOver`: a call has succeeded since. */
export interface ToldCoolDown {
  readonly [field: string]: Json;
  readonly reason: CoolReason;
  /** Null: the whole slot. */
  readonly model: string | null;
  readonly untilMs: number;
  readonly doubled: number;
  readonly serial: number;
  readonly isOver: boolean;
}

/** Takes what the others are to hear; undefined: it is not worth keeping any more. */
export type TellCoolDown = (key: string, told: ToldCoolDown | undefined) => void;

/**
 * The cool-downs of one account. One that is over is kept for its doubling until a success clears it. Calls carry the
 * mark of the moment they began, since what was under way before a cool-down began says nothing about it. What several
 * instances say of one key comes to the same in all of them, in whatever order they hear it: the newer one counts, its
 * end more than its beginning.
 */
export class CoolDowns {
  readonly #tell: TellCoolDown;
  readonly #byKey = new Map<string, CoolDown>();
  /** Serials of those that were cleared. */
  readonly #cleared = new Map<string, number>();
  #mark = 0;

  constructor(tell: TellCoolDown = () => undefined) {
    this.#tell = tell;
  }

  /** Those that were cleared count too. */
  get fill(): CacheStats {
    return { entries: this.#byKey.size + this.#cleared.size, capacity: 2 * most };
  }

  /** What a call that begins now has to show when it ends. */
  get mark(): number {
    return this.#mark;
  }

  /** The mark of the calls that begin from now on, and of none before. */
  advance(): number {
    this.#mark += 1;
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
      if (toldMs !== undefined && toldMs > known.untilMs) this.#change(key, { ...known, untilMs: toldMs });
      return false;
    }
    const doubled = known ? known.doubled + 1 : 0;
    const { backoff, reason } = cooling;
    const untilMs = toldMs ?? nowMs + Math.min(backoff.firstMs * 2 ** doubled, backoff.longestMs);
    const serial = Math.max(nowMs, (known?.serial ?? this.#cleared.get(key) ?? 0) + 1);
    this.#change(key, { reason, model: scope, untilMs, doubled, serial, mark: this.advance() });
    return true;
  }

  /** A call that began at `began` has succeeded: what kept the slot or this model before that is over. True if any did. */
  succeed(model: string, began: number): boolean {
    const before = this.#byKey.size;
    for (const [key, each] of this.#byKey) {
      if (each.mark <= began && (each.model === undefined || each.model === model)) this.#end(key, each);
    }
    return this.#byKey.size < before;
  }

  clear(): void {
    for (const [key, each] of this.#byKey) this.#end(key, each);
  }

  /** Takes what another instance says; what is newer here it is told in turn. */
  hear(key: string, told: ToldCoolDown): void {
    const known = this.#byKey.get(key);
    const cleared = this.#cleared.get(key) ?? 0;
    if (known && known.serial === told.serial && !told.isOver) return this.#merge(key, known, told);
    if (told.serial < Math.max(known?.serial ?? 0, cleared)) return this.#tellAgain(key, known, told);
    if (told.isOver) {
      this.#byKey.delete(key);
      keep(this.#cleared, key, told.serial);
    } else if (told.serial > cleared) {
      const { reason, untilMs, doubled, serial } = told;
      const model = told.model ?? undefined;
      keep(this.#byKey, key, { reason, model, untilMs, doubled, serial, mark: this.advance() });
    } else this.#tellAgain(key, known, told);
  }

  /** Two instances have begun or prolonged the same one at the same time. */
  #merge(key: string, known: CoolDown, told: ToldCoolDown): void {
    const untilMs = Math.max(known.untilMs, told.untilMs);
    const doubled = Math.max(known.doubled, told.doubled);
    this.#byKey.set(key, { ...known, untilMs, doubled });
    if (untilMs > told.untilMs + clockToleranceMs || doubled !== told.doubled)
      this.#tell(key, { ...told, untilMs, doubled });
  }

  #tellAgain(key: string, known: CoolDown | undefined, told: ToldCoolDown): void {
    const serial = this.#cleared.get(key) ?? 0;
    this.#tell(key, known ? toldOf(known, false) : { ...told, serial, isOver: true });
  }

  #change(key: string, coolDown: CoolDown): void {
    const oldest = keep(this.#byKey, key, coolDown);
    this.#tell(key, toldOf(coolDown, false));
    if (oldest !== undefined) this.#tell(oldest, undefined);
  }

  #end(key: string, coolDown: CoolDown): void {
    this.#byKey.delete(key);
    const oldest = keep(this.#cleared, key, coolDown.serial);
    this.#tell(key, toldOf(coolDown, true));
    if (oldest !== undefined && !this.#byKey.has(oldest)) this.#tell(oldest, undefined);
  }
}

/** Callers can make up model names where a slot serves all of them: the oldest key goes, and is given. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value): string | undefined {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size <= most || oldest === undefined) return undefined;
  map.delete(oldest);
  return oldest;
}

function toldOf({ reason, model, untilMs, doubled, serial }: CoolDown, isOver: boolean): ToldCoolDown {
  return { reason, model: model ?? null, untilMs, doubled, serial, isOver };
}

/** Times that came from another instance are off by as much. */
const clockToleranceMs = 50;

const most = 256;

/** The length of the longest window: a header that names a later time is wrong. */
const longestMs = 7 * 24 * 3_600_000;
