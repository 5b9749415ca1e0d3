import { randomUUID } from 'node:crypto';
import { jsonWithInputs } from '../inputs/inputs-json.js';
import type { ListSpan } from './cut-lists.js';
import { RawList, type Run } from './raw-list.js';

/** Parts of a received body whose text is kept. */
interface RawParts {
  readonly bytes: Buffer;
  /** Have all messages. */
  readonly runs: readonly Run[];
  readonly lists: readonly ListSpan[];
}

/**
 * Keeps the received text of a body's messages and other lists, so that their unchanged items are sent without being
 * serialized again; copies of the body (`{ ...body }`) keep it too, JSON does not show it.
 */
export function keepRawBody(body: object, { bytes, runs, lists }: RawParts): void {
  const fields = body as Readonly<Record<string, readonly unknown[]>>; // lists, as far as they are read
  const kept = new Map([['messages', new RawList(bytes, runs, isWorthKeeping)]]);
  for (const { name, start, end } of lists) {
    const inner = { start: start + 1, end: end - 1, items: fields[name] ?? [] };
    kept.set(name, new RawList(bytes, [inner]));
  }
  Object.assign(body, { [rawBody]: kept });
}

/** False for very small messages: comparing their parts costs as much as serializing them. */
function isWorthKeeping({ start, end, items }: Run): boolean {
  return end - start >= 128 * items.length;
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
  const { [rawBody]: kept } = request as MaybeRawBody; // any object may have it
  if (!kept) return Buffer.from(jsonWithInputs(request));
  const texts = new Map<string, readonly Buffer[]>();
  for (const [name, list] of kept) {
    const { [name]: now } = request as Readonly<Record<string, unknown>>; // any object may be read by name
    if (Array.isArray(now)) texts.set(name, list.write(now));
  }
  if (!texts.has('messages')) return Buffer.from(jsonWithInputs(request));
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

/** Random text that occurs in no request. */
export const placeholder: string = randomUUID();

const rawBody = Symbol.for('gw2api.rawBody');

interface MaybeRawBody {
  readonly [rawBody]?: ReadonlyMap<string, RawList>;
}

const lastBytes = Symbol.for('gw2api.lastBytes');

interface MaybeShared {
  /** Bytes of the copy that was serialized last. */
  readonly [lastBytes]?: { readonly of: object; readonly bytes?: Buffer };
}
