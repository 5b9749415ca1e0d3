import { GatewayError, type FormatContext, type StoredResponse } from '../../plugin/index.js';
import { invalidField, isRecord } from '../body.js';
import { responseIdOf } from '../item-id.js';
import type { InputItem, ResponsesBody } from './body.js';

/** The whole input of a request. */
export interface ResponsesInput {
  /** Those of the responses before, then the request's own; references are replaced by what they name. */
  readonly items: readonly InputItem[];
  /** How many of them come from responses before. */
  readonly carried: number;
}

/**
 * All input items of a request, those of the responses before it included: what is kept with its answer. Throws
 * `invalid_request` for a `previous_response_id` or an `item_reference` that names nothing the caller may read.
 */
export async function inputItems(body: ResponsesBody, context: FormatContext): Promise<readonly InputItem[]> {
  return (await readInput(body, context)).items;
}

/** Where an item stands in the caller's body; what earlier responses brought is all under `previous_response_id`. */
export function itemPath(at: number, carried: number): string {
  return at < carried ? 'previous_response_id' : `input[${at - carried}]`;
}

export async function readInput(body: ResponsesBody, context: FormatContext): Promise<ResponsesInput> {
  const previous = await previousItems(body, context);
  const own = await Promise.all(ownItems(body).map((item) => resolveReference(item, previous, context)));
  return { items: [...previous, ...own], carried: previous.length };
}

function ownItems({ input }: ResponsesBody): readonly InputItem[] {
  if (typeof input !== 'string') return input ?? [];
  return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }];
}

async function previousItems(
  { previous_response_id: id }: ResponsesBody,
  context: FormatContext,
): Promise<readonly InputItem[]> {
  if (!id) return [];
  const stored = await find(id, context);
  if (!stored) throw notFound('Previous response', id);
  return [...stored.input, ...outputOf(stored)].filter(isRecord);
}

function find(id: string, { caller, store }: FormatContext): Promise<StoredResponse | undefined> {
  return store.responses.get(caller.keyId, id);
}

function outputOf({ response }: StoredResponse): readonly InputItem[] {
  const { output } = response;
  return Array.isArray(output) ? output.filter(isRecord) : [];
}

/** A reference may leave its type out: it has an id and nothing else to say. */
async function resolveReference(
  item: InputItem,
  previous: readonly InputItem[],
  context: FormatContext,
): Promise<InputItem> {
  const { type, id } = item;
  const isReference = type === 'item_reference' || (!type && !('role' in item) && typeof id === 'string');
  if (!isReference) return item;
  if (typeof id !== 'string') throw invalidField('input', 'has an item_reference without an id');
  const found = previous.find((candidate) => candidate['id'] === id) ?? (await findItem(id, context));
  if (!found) throw notFound('Item', id);
  return found;
}

async function findItem(id: string, context: FormatContext): Promise<InputItem | undefined> {
  const responseId = responseIdOf(id);
  const stored = responseId && (await find(responseId, context));
  return stored ? outputOf(stored).find((item) => item['id'] === id) : undefined;
}

/** In the vendor's words, which clients look for. */
function notFound(what: string, id: string): GatewayError {
  return new GatewayError('invalid_request', `${what} with id '${id}' not found.`);
}
