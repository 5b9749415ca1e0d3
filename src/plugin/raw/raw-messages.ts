import { randomUUID } from 'node:crypto';
import { JsonCursor } from '../inputs/json-cursor.js';
import { jsonWithInputs } from '../inputs/inputs-json.js';
import type { ListSpan } from './cut-lists.js';

/** Run of neighbouring messages of a body, with the byte range of their text. */
export interface Run {
  readonly start: number;
  readonly end: number;
  readonly messages: readonly unknown[];
}

/** Parts of a received body whose text is kept. */
interface RawParts {
  readonly bytes: Buffer;
  /** Begin with the first message. */
  readonly runs: readonly Run[];
  /** Number of all messages, those after the runs included. */
  readonly total: number;
  readonly lists: readonly ListSpan[];
}

/**
 * Keeps the received text of a body's messages and other lists, so that unchanged ones are sent without being
 * serialized again; copies of the body (`{ ...body }`) keep it too, JSON does not show it.
 */
export function keepRawBody(body: object, { bytes, runs, total, lists }: RawParts): void {
  const fields = body as Readonly<Record<string, unknown>>; // parsed of JSON
  const kept = lists.map(({ name, start, end }): KeptList => {
    const value = fields[name];
    return { name, value, leaves: leavesOf(value), text: bytes.subarray(start, end) };
  });
  Object.assign(body, { [rawBody]: { messages: new RawMessages(bytes, runs, total), lists: kept } });
}

/** Copy of a request whose own copies, if their fields are equal, share the result of `requestBytes`. */
export function shareBytes<Request extends object>(request: Request): Request {
  return { ...request, [lastBytes]: {} };
}

/** Outgoing JSON of a request, with unchanged messages and lists as received. */
export function requestBytes(request: object): Buffer {
  const { [lastBytes]: last } = request as MaybeShared; // any object may have it
  if (last?.bytes && isCopy(request, last.of)) return last.bytes;
  const bytes = serialize(request);
  if (last) Object.assign(last, { of: request, bytes });
  return bytes;
}

function isCopy(request: object, other: object): boolean {
  const [fields, others] = [Object.entries(request), new Map(Object.entries(other))];
  return fields.length === others.size && fields.every(([name, value]) => others.get(name) === value);
}

function serialize(request: object): Buffer {
  const { messages, [rawBody]: kept } = request as MaybeRawBody; // any object may have these
  if (!kept || !Array.isArray(messages)) return Buffer.from(jsonWithInputs(request));
  const texts = new Map<string, readonly Buffer[]>([
    ['messages', [open, ...kept.messages.write(messages), close]],
  ]);
  for (const list of kept.lists) if (isUnchanged(list, request)) texts.set(list.name, [list.text]);
  return withTexts(request, texts);
}

/** JSON of an object in which some fields have these texts. */
function withTexts(request: object, texts: ReadonlyMap<string, readonly Buffer[]>): Buffer {
  const fields: Record<string, unknown> = { ...request };
  for (const name of texts.keys()) fields[name] = placeholder;
  const between = JSON.stringify(fields).split(`"${placeholder}"`);
  const names = Object.keys(fields).filter((name) => texts.has(name));
  const pieces = between.flatMap((text, at) => [Buffer.from(text), ...(texts.get(names[at] ?? '') ?? [])]);
  return Buffer.concat(pieces);
}

const open = Buffer.from('[');
const close = Buffer.from(']');

/** Random text that occurs in no request. */
export const placeholder: string = randomUUID();

const rawBody = Symbol.for('gw2api.rawBody');

interface MaybeRawBody {
  readonly messages?: unknown;
  readonly [rawBody]?: { readonly messages: RawMessages; readonly lists: readonly KeptList[] };
}

/** List of a body with its received text. */
interface KeptList {
  readonly name: string;
  readonly value: unknown;
  readonly leaves: readonly unknown[];
  readonly text: Buffer;
}

/** True if a request still has the list, unmodified. */
function isUnchanged({ name, value, leaves }: KeptList, request: object): boolean {
  const { [name]: now } = request as Readonly<Record<string, unknown>>; // any object may be read by name
  return now === value && areEqual(leavesOf(value), leaves);
}

function areEqual(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((leaf, at) => leaf === other[at]);
}

const lastBytes = Symbol.for('gw2api.lastBytes');

interface MaybeShared {
  /** Bytes of the copy that was serialized last. */
  readonly [lastBytes]?: { readonly of: object; readonly bytes?: Buffer };
}

interface KeptRun extends Run {
  /** The index of its first message. */
  readonly at: number;
  /** Those of each message. */
  readonly leaves: readonly (readonly unknown[])[];
}

class RawMessages {
  readonly #bytes: Buffer;
  readonly #runs: readonly KeptRun[];
  readonly #total: number;

  constructor(bytes: Buffer, runs: readonly Run[], total: number) {
    const kept: KeptRun[] = [];
    let at = 0;
    for (const run of runs) {
      const leaves = isWorthKeeping(run) ? run.messages.map((message) => leavesOf(message)) : undefined;
      if (leaves) kept.push({ ...run, at, leaves });
      at += run.messages.length;
    }
    this.#bytes = bytes;
    this.#runs = kept;
    this.#total = total;
  }

  /** Writes the items of the list and the commas between them. */
  write(messages: readonly unknown[]): readonly Buffer[] {
    const pieces: Buffer[] = [];
    let written = 0;
    for (const run of this.#runs)
      for (const { at, count, text } of this.#unchanged(run, messages)) {
        if (at < written) continue;
        if (at > written) pieces.push(itemsOf(messages.slice(written, at)), comma);
        pieces.push(text, comma);
        written = at + count;
      }
    if (written < messages.length) pieces.push(itemsOf(messages.slice(written)));
    else pieces.pop();
    return pieces;
  }

  /** Texts of the messages of a run that are in a list, unmodified: one text if all are. */
  #unchanged(run: KeptRun, messages: readonly unknown[]): readonly KeptText[] {
    const at = this.#place(run, messages);
    if (at === undefined) return [];
    const isKept = run.leaves.map((leaves, index) => isUnmodified(run, index, messages[at + index], leaves));
    const bytes = this.#bytes.subarray(run.start, run.end);
    if (isKept.every(Boolean)) return [{ at, count: isKept.length, text: bytes }];
    return new JsonCursor(bytes)
      .itemRanges()
      .flatMap(([start, end], index) =>
        isKept[index] ? [{ at: at + index, count: 1, text: bytes.subarray(start, end) }] : [],
      );
  }

  /**
   * Index at which a list has messages of a run, at their old distance from the start or from the end; undefined if
   * it has none of them.
   */
  #place({ at, messages: own }: KeptRun, messages: readonly unknown[]): number | undefined {
    const places = [at, at + messages.length - this.#total];
    return places.find((place) => own.some((message, index) => message === messages[place + index]));
  }
}

/** Text of some messages, and the index of the first one in the list. */
interface KeptText {
  readonly at: number;
  readonly count: number;
  readonly text: Buffer;
}

/** False for very small messages: comparing their parts costs as much as serializing them. */
function isWorthKeeping({ start, end, messages }: Run): boolean {
  return end - start >= 128 * messages.length;
}

const comma = Buffer.from(',');

function itemsOf(messages: readonly unknown[]): Buffer {
  return Buffer.from(jsonWithInputs(messages).slice(1, -1));
}

/** True if a message of a run is the same object as before, with the same parts. */
function isUnmodified(
  { messages }: KeptRun,
  index: number,
  now: unknown,
  leaves: readonly unknown[],
): boolean {
  return now === messages[index] && areEqual(leavesOf(now), leaves);
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
