import type { FormatContext } from '../../plugin/index.js';
import { invalidField } from '../body.js';
import type { InputItem, ResponsesBody } from './body.js';
import { StoredItems } from './stored-items.js';

/** The whole input of a request. */
export interface ResponsesInput {
  /** Those of the responses before, then the request's own; references are replaced by what they name. */
  readonly items: readonly InputItem[];
  /** How many of them come from responses before. */
  readonly carried: number;
}

/**
 * All input items of a request, those of the responses before it included: what is kept with its answer. Throws
 * `not_found` for a `previous_response_id` or an `item_reference` that names nothing the caller may read, and
 * `invalid_request` where what they name makes the request larger than a body may be.
 */
export async function inputItems(body: ResponsesBody, context: FormatContext): Promise<readonly InputItem[]> {
  return (await readInput(body, context)).items;
}

/** Where an item stands in the caller's body; what earlier responses brought is all under `previous_response_id`. */
export function itemPath(at: number, carried: number): string {
  return at < carried ? 'previous_response_id' : `input[${at - carried}]`;
}

interface Reading {
  readonly owner: string;
  readonly store: FormatContext['store'];
  readonly input: Promise<ResponsesInput>;
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
  const { previous_response_id: previousId } = body;
  const own = ownItems(body);
  if (!previousId && !own.some(isReference)) return { items: own, carried: 0 };
  const stored = new StoredItems(context);
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

function ownItems({ input }: ResponsesBody): readonly InputItem[] {
  if (typeof input !== 'string') return input ?? [];
  return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }];
}

/** A reference may leave its type out: it has an id and nothing else to say. */
function isReference(item: InputItem): boolean {
  const { type, id } = item;
  return type === 'item_reference' || (!type && !('role' in item) && typeof id === 'string');
}
