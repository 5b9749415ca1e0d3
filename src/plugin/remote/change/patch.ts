import { isRecord } from '../../../kit/schema/record.js';
import type { PatchOperation } from '../reply.js';
import { isSame } from './merge.js';

/**
 * Applies a patch (RFC 6902) to a JSON document in place. Throws a TypeError that names the operation, also if its
 * copies make the document far larger.
 */
export function applyPatch(document: object, patch: readonly PatchOperation[]): void {
  const work = { document, copied: 0 };
  for (const [at, operation] of patch.entries()) {
    try {
      apply(work, operation);
    } catch (error) {
      if (!(error instanceof PatchFault)) throw error;
      throw new TypeError(`patch[${at}]: ${error.message}`, { cause: error });
    }
  }
}

interface Work {
  readonly document: object;
  /** Characters and values that copies have added. */
  copied: number;
}

class PatchFault extends Error {}

function apply(work: Work, operation: PatchOperation): void {
  const place = placeOf(work, operation.path);
  if (operation.op === 'remove') place.remove();
  else if ('from' in operation) transfer(work, operation);
  else if (operation.op === 'replace') place.replace(operation.value);
  else if (operation.op === 'add') place.add(operation.value);
  else if (!isSame(place.get(), operation.value)) throw new PatchFault(`${operation.path} has another value`);
}

function transfer(work: Work, { op, from, path }: Extract<PatchOperation, { readonly from: string }>): void {
  const value = placeOf(work, from).get();
  if (op === 'copy') return placeOf(work, path).add(copyOf(value, work));
  if (path.startsWith(`${from}/`)) throw new PatchFault(`${from} cannot be moved into itself`);
  placeOf(work, from).remove();
  placeOf(work, path).add(value);
}

/** Max characters and values that all copies of a patch may have. */
const maxCopied = 2 * 1024 * 1024;

function copyOf(value: unknown, work: Work): unknown {
  work.copied += typeof value === 'string' ? value.length + 1 : 1;
  if (work.copied > maxCopied) throw new PatchFault('the copies are too large');
  if (Array.isArray(value)) return value.map((item) => copyOf(item, work));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, copyOf(part, work)]));
}

/** Place of a pointer (RFC 6901): a member of an object, or an index of a list, in a part that exists. */
function placeOf({ document }: Work, pointer: string): Place {
  const names = pointer
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = names.pop() ?? '';
  let owner: unknown = document;
  for (const name of names) owner = new Place(owner, name, pointer).get();
  return new Place(owner, last, pointer);
}

/** Only reaches parts that a document itself has, and never their prototypes. */
class Place {
  readonly #owner: unknown;
  readonly #name: string;
  readonly #pointer: string;

  constructor(owner: unknown, name: string, pointer: string) {
    this.#owner = owner;
    this.#name = name;
    this.#pointer = pointer;
  }

  get(): unknown {
    if (Array.isArray(this.#owner)) return this.#owner[this.#index(this.#owner.length - 1)] as unknown;
    return this.#existing()[this.#name];
  }

  add(value: unknown): void {
    if (Array.isArray(this.#owner)) {
      const at = this.#name === '-' ? this.#owner.length : this.#index(this.#owner.length);
      this.#owner.splice(at, 0, value);
    } else if (isRecord(this.#owner)) this.#set(this.#owner, value);
    else throw this.#missing();
  }

  replace(value: unknown): void {
    if (Array.isArray(this.#owner)) this.#owner[this.#index(this.#owner.length - 1)] = value;
    else this.#set(this.#existing(), value);
  }

  remove(): void {
    if (Array.isArray(this.#owner)) this.#owner.splice(this.#index(this.#owner.length - 1), 1);
    else delete this.#existing()[this.#name];
  }

  #existing(): Record<string, unknown> {
    if (!isRecord(this.#owner) || !Object.hasOwn(this.#owner, this.#name)) throw this.#missing();
    return this.#owner;
  }

  /** Defines the member, because assigning `__proto__` would set the prototype. */
  #set(owner: object, value: unknown): void {
    Object.defineProperty(owner, this.#name, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }

  #index(max: number): number {
    const index = /^(?:0|[1-9]\d{0,8})$/.test(this.#name) ? Number(this.#name) : Infinity;
    if (index > max) throw this.#missing();
    return index;
  }

  #missing(): PatchFault {
    return new PatchFault(`${this.#pointer} is missing`);
  }
}
