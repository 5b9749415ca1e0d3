import { JsonCursor } from '../inputs/json-cursor.js';
import { jsonWithInputs } from '../inputs/inputs-json.js';

/** Run of neighbouring items of a list, with the byte range of their text. */
export interface Run {
  readonly start: number;
  readonly end: number;
  readonly items: readonly unknown[];
}

interface KeptRun extends Run {
  /** The index of its first item. */
  readonly at: number;
  /** Leaves of each item, by which a change of it shows. */
  readonly leaves: readonly (readonly unknown[])[];
}

/** List of a received body, with the text of those of its items that are kept. */
export class RawList {
  readonly #bytes: Buffer;
  readonly #runs: readonly KeptRun[];
  readonly #total: number;

  /** `runs`: all items of the list; `isKept`: whether the text of a run is kept, by default that of each. */
  constructor(bytes: Buffer, runs: readonly Run[], isKept: (run: Run) => boolean = () => true) {
    const kept: KeptRun[] = [];
    let at = 0;
    for (const run of runs) {
      if (isKept(run)) kept.push({ ...run, at, leaves: run.items.map((item) => leavesOf(item)) });
      at += run.items.length;
    }
    this.#bytes = bytes;
    this.#runs = kept;
    this.#total = at;
  }

  /** JSON of a list in pieces, with the texts of its items that are those of this one, unmodified. */
  write(items: readonly unknown[]): readonly Buffer[] {
    const pieces: Buffer[] = [open];
    let written = 0;
    for (const run of this.#runs)
      for (const { at, count, text } of this.#unchanged(run, items)) {
        if (at < written) continue;
        if (at > written) pieces.push(itemsOf(items.slice(written, at)), comma);
        pieces.push(text, comma);
        written = at + count;
      }
    if (written < items.length) pieces.push(itemsOf(items.slice(written)));
    else if (pieces.length > 1) pieces.pop();
    pieces.push(close);
    return pieces;
  }

  /** Texts of the items of a run that are in a list, unmodified: one text if all are. */
  #unchanged(run: KeptRun, items: readonly unknown[]): readonly KeptText[] {
    const at = this.#place(run, items);
    if (at === undefined) return [];
    const isKept = run.leaves.map((leaves, index) => isUnmodified(run, index, items[at + index], leaves));
    const bytes = this.#bytes.subarray(run.start, run.end);
    if (isKept.every(Boolean)) return [{ at, count: isKept.length, text: bytes }];
    return new JsonCursor(bytes)
      .itemRanges()
      .flatMap(([start, end], index) =>
        isKept[index] ? [{ at: at + index, count: 1, text: bytes.subarray(start, end) }] : [],
      );
  }

  /**
   * Index at which a list has items of a run, at their old distance from the start or from the end; undefined if it has
   * none of them.
   */
  #place({ at, items: own }: KeptRun, items: readonly unknown[]): number | undefined {
    const places = [at, at + items.length - this.#total];
    return places.find((place) => own.some((item, index) => item === items[place + index]));
  }
}

/** Text of some items, and the index of the first one in the list. */
interface KeptText {
  readonly at: number;
  readonly count: number;
  readonly text: Buffer;
}

const open = Buffer.from('[');
const close = Buffer.from(']');
const comma = Buffer.from(',');

function itemsOf(items: readonly unknown[]): Buffer {
  return Buffer.from(jsonWithInputs(items).slice(1, -1));
}

/** True if an item of a run is the same as before, with the same parts. */
function isUnmodified({ items }: KeptRun, index: number, now: unknown, leaves: readonly unknown[]): boolean {
  return now === items[index] && areEqual(leavesOf(now), leaves);
}

function areEqual(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((leaf, at) => leaf === other[at]);
}

/**
 * Flat list of all parts of a value, in order: equal lists give equal JSON. Each object is followed by the
 * index at which its parts end.
 */
function leavesOf(value: unknown, leaves: unknown[] = []): readonly unknown[] {
  leaves.push(value);
  if (typeof value !== 'object' || value === null) return leaves;
  const end = leaves.push(undefined) - 1;
  if (Array.isArray(value)) for (const part of value) leavesOf(part, leaves);
  else {
    const parts = value as Readonly<Record<string, unknown>>; // JSON has no other objects
    for (const name in parts) leavesOf(parts[name], (leaves.push(name), leaves));
  }
  leaves[end] = leaves.length;
  return leaves;
}
