import type { FormatContext } from '@gw2api/gateway/plugin/format';
import type { InputItem, ResponsesBody } from './body.js';
import { StoredItems, type KnownResponse } from './stored/stored-items.js';
import { invalidField } from '../shared/body.js';

/** The whole input of a request. */
export interface ResponsesInput {
  /** Items of the previous responses, then of the request itself, with references resolved. */
  readonly items: readonly InputItem[];
  /** Number of items from previous responses. */
  readonly carried: number;
}

/**
 * All input items of a request, those of previous responses included; stored with the answer. Throws
 * `previous_response_not_found` for an unknown `previous_response_id`, `not_found` for an unknown `item_reference`,
 * and `invalid_request` if the stored items make the request larger than the body limit.
 */
export async function inputItems(body: ResponsesBody, context: FormatContext): Promise<readonly InputItem[]> {
  return (await readInput(body, context)).items;
}

/** Path of an item in the caller's body; items of previous responses are all under `previous_response_id`. */
export function itemPath(at: number, carried: number): string {
  return at < carried ? 'previous_response_id' : `input[${at - carried}]`;
}

interface Reading {
  readonly owner: string;
  readonly store: FormatContext['store'];
  readonly input: Promise<ResponsesInput>;
}

/** By body: the response kept by a WebSocket that it continues. */
const knownPrevious = new WeakMap<object, KnownResponse>();

/** Makes a body continue this response without a lookup in the store. */
export function knowPrevious(body: object, previous: KnownResponse): void {
  knownPrevious.set(body, previous);
}

/** By body: a request is decoded and encoded, and its items are read once for both. */
const readings = new WeakMap<ResponsesBody, Reading>();

export function readInput(body: ResponsesBody, context: FormatContext): Promise<ResponsesInput> {
  const { store, caller } = context;
  const known = readings.get(body);
  if (known && known.owner === caller.keyId && known.store === store) return known.input;
  const input = resolve(body, context);
  readings.set(body, { owner: caller.keyId, store, input });
  return input;
}

async function resolve(body: ResponsesBody, context: FormatContext): Promise<ResponsesInput> {
  const { previous_response_id: previousId, input } = body;
  const own = ownItems(input);
  if (!previousId && !own.some(isReference)) return { items: own, carried: 0 };
  const stored = new StoredItems(context, knownPrevious.get(body));
  stored.add(own.filter((item) => !isReference(item)));
  const previous = previousId ? await stored.inputAndOutput(previousId) : [];
  const items: InputItem[] = [...previous];
  for (const [at, item] of own.entries()) {
    if (!isReference(item)) items.push(item);
    else if (typeof item['id'] === 'string') items.push(await stored.referenced(item['id'], `input[${at}]`));
    else throw invalidField(`input[${at}].id`, 'is required of an item_reference');
  }
  return { items, carried: previous.length };
}

/** Items of the request itself. */
export function ownItems(input: ResponsesBody['input']): readonly InputItem[] {
  if (typeof input !== 'string') return input ?? [];
  return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }];
}

/** References may omit their type and have only an id. */
function isReference(item: InputItem): boolean {
  const { type, id } = item;
  if (type === 'item_reference') return true;
  return !type && typeof id === 'string' && hasNothingElse(item);
}

function hasNothingElse(item: InputItem): boolean {
  for (const name in item) if (name !== 'type' && name !== 'id' && !isNothing(item[name])) return false;
  return true;
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null;
}
