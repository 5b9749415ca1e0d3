import { randomUUID } from 'node:crypto';
import { jsonWithInputs } from '../inputs/inputs-json.js';

/** Run of neighbouring messages of a body, with the byte range of their text. */
export interface Run {
  readonly start: number;
  readonly end: number;
  readonly messages: readonly unknown[];
}

/**
 * Keeps the received text of a body's messages, so that unchanged ones go out without being serialized again;
 * copies of the body (`{ ...body }`) keep it too, JSON does not show it. The runs begin with the first
 * message, `total` includes the messages after them.
 */
export function keepRawMessages(body: object, bytes: Buffer, runs: readonly Run[], total: number): void {
  Object.assign(body, { [rawMessages]: new RawMessages(bytes, runs, total) });
}

/** Copy of a request whose own copies, if their fields are equal, share the result of `requestBytes`. */
export function shareBytes<Request extends object>(request: Request): Request {
  return { ...request, [lastBytes]: {} };
}

/** Outgoing JSON of a request, with unchanged messages as received. */
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
  const { messages, [rawMessages]: kept } = request as MaybeRawMessages; // any object may have these
  if (!kept || !Array.isArray(messages)) return Buffer.from(jsonWithInputs(request));
  const text = JSON.stringify({ ...request, messages: placeholder });
  const at = text.indexOf(`"${placeholder}"`);
  const rest = text.slice(at + placeholder.length + 2);
  return Buffer.concat([
    Buffer.from(`${text.slice(0, at)}[`),
    ...kept.write(messages),
    Buffer.from(`]${rest}`),
  ]);
}

/** Random text that occurs in no request. */
export const placeholder: string = randomUUID();

const rawMessages = Symbol.for('gw2api.rawMessages');

interface MaybeRawMessages {
  readonly messages?: unknown;
  readonly [rawMessages]?: RawMessages;
}

const lastBytes = Symbol.for('gw2api.lastBytes');

interface MaybeShared {
  /** Bytes of the copy that was serialized last. */
  readonly [lastBytes]?: { readonly of: object; readonly bytes?: Buffer };
}

interface KeptRun extends Run {
  /** The index of its first message. */
  readonly at: number;
  readonly leaves: readonly unknown[];
}

class RawMessages {
  readonly #bytes: Buffer;
  readonly #runs: readonly KeptRun[];
  readonly #total: number;

  constructor(bytes: Buffer, runs: readonly Run[], total: number) {
    const kept: KeptRun[] = [];
    let at = 0;
    for (const run of runs) {
      const { start, end, messages } = run;
      if (isWorthKeeping(run)) kept.push({ start, end, messages, at, leaves: leavesOf(messages) });
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
    for (const run of this.#runs) {
      const at = this.#find(run, messages);
      if (at === undefined || at < written) continue;
      if (at > written) pieces.push(itemsOf(messages.slice(written, at)), comma);
      pieces.push(this.#bytes.subarray(run.start, run.end), comma);
      written = at + run.messages.length;
    }
    if (written < messages.length) pieces.push(itemsOf(messages.slice(written)));
    else pieces.pop();
    return pieces;
  }

  /**
   * Index of an unchanged run in a list, at its old distance from the start or from the end; undefined if it
   * was changed.
   */
  #find(run: KeptRun, messages: readonly unknown[]): number | undefined {
    const added = messages.length - this.#total;
    if (stands(run, messages, run.at)) return run.at;
    return added !== 0 && stands(run, messages, run.at + added) ? run.at + added : undefined;
  }
}

/** False for very small messages: comparing their parts costs as much as serializing them. */
function isWorthKeeping({ start, end, messages }: Run): boolean {
  return end - start >= 128 * messages.length;
}

const comma = Buffer.from(',');

function itemsOf(messages: readonly unknown[]): Buffer {
  return Buffer.from(jsonWithInputs(messages).slice(1, -1));
}

/** True if the same message objects are at this index, and nobody has modified them. */
function stands({ messages, leaves }: KeptRun, list: readonly unknown[], at: number): boolean {
  if (messages.some((message, index) => message !== list[at + index])) return false;
  const now = leavesOf(messages);
  return now.length === leaves.length && now.every((leaf, index) => leaf === leaves[index]);
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
