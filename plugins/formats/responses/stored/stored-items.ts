import { GatewayError } from '@gw2api/gateway/plugin';
import type { FormatContext, StoredResponse } from '@gw2api/gateway/plugin/format';
import type { InputItem } from '../body.js';
import { inputResponseIdOf, responseIdOf } from '../item.js';
import { listedInput } from './listed-input.js';
import { invalidField, isRecord } from '../../shared/body.js';
import { minJsonBytes } from '../../shared/json-size.js';

interface Known {
  readonly item: InputItem;
  readonly bytes: number;
}

/** Response in memory: the same as in the store. */
export type KnownResponse = Pick<StoredResponse, 'input' | 'response'>;

/**
 * Looks up the stored items that one request names, each response once. Their total size counts toward the
 * body limit: a short request may name a large item many times.
 */
export class StoredItems {
  readonly #context: FormatContext;
  readonly #previous: KnownResponse | undefined;
  /** By id, those of the earlier ones first. */
  readonly #known = new Map<string, Known>();
  /** Responses that have been read, or lists of their input. */
  readonly #read = new Set<string>();
  /** Total size of the responses read, with the tools and instructions that they repeat. */
  #readBytes = 0;
  #bytes = 0;

  constructor(context: FormatContext, previous?: KnownResponse) {
    this.#context = context;
    this.#previous = previous;
  }

  /** Everything before a request that continues this response. */
  async inputAndOutput(id: string): Promise<readonly InputItem[]> {
    const { store, caller } = this.#context;
    const stored = this.#previous ?? (await store.responses.get(caller.keyId, id));
    if (!stored) throw previousNotFound(id);
    const items = [...stored.input, ...outputOf(stored.response)].filter(isRecord);
    this.#read.add(id);
    for (const bytes of this.#learn(items, 'previous_response_id'))
      this.#spend(bytes, 'previous_response_id');
    return items;
  }

  /** Counts the caller's own input, apart from the ids of stored items. */
  add(items: readonly InputItem[]): void {
    for (const item of items) this.#spend(jsonBytes(item), 'input');
  }

  async referenced(id: string, path: string): Promise<InputItem> {
    const known = this.#known.get(id) ?? (await this.#find(id, path));
    if (!known)
      throw new GatewayError('not_found', `Item with id '${id}' not found. ${notStored}`, { param: path });
    this.#spend(known.bytes, path);
    return known.item;
  }

  async #find(id: string, path: string): Promise<Known | undefined> {
    const { store, caller, maxBodyBytes } = this.#context;
    const [responseId, inputOf] = [responseIdOf(id), inputResponseIdOf(id)];
    if (responseId !== undefined && this.#isNew(responseId)) {
      const response = await store.responses.getResponse(caller.keyId, responseId);
      if (response) this.#readBytes += minJsonBytes({ ...response, output: null }, maxBodyBytes);
      this.#learn(response ? outputOf(response) : [], path);
    }
    if (inputOf !== undefined && this.#isNew(`input of ${inputOf}`)) {
      const stored = await store.responses.get(caller.keyId, inputOf);
      this.#learn(stored ? listedInput(stored) : [], path);
    }
    return this.#known.get(id);
  }

  #isNew(response: string): boolean {
    if (this.#read.has(response)) return false;
    this.#read.add(response);
    return true;
  }

  /** Adds items that may be named by their ids. Returns the size of each. */
  #learn(items: readonly InputItem[], path: string): readonly number[] {
    const sizes = items.map((item) => {
      const { id } = item;
      const bytes = jsonBytes(item);
      this.#readBytes += bytes;
      if (typeof id === 'string' && !this.#known.has(id)) this.#known.set(id, { item, bytes });
      return bytes;
    });
    if (this.#readBytes > this.#context.maxBodyBytes) throw this.#bodyTooLarge(path);
    return sizes;
  }

  #spend(bytes: number, path: string): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#context.maxBodyBytes) throw this.#bodyTooLarge(path);
  }

  #bodyTooLarge(path: string): GatewayError {
    const { maxBodyBytes } = this.#context;
    return invalidField(
      path,
      `makes the request, with the stored items it names, larger than the maximum of ${maxBodyBytes} bytes`,
    );
  }
}

function jsonBytes(item: InputItem): number {
  return Buffer.byteLength(JSON.stringify(item));
}

function outputOf({ output }: Readonly<Record<string, unknown>>): readonly InputItem[] {
  return Array.isArray(output) ? output.filter(isRecord) : [];
}

/** A 400 in the vendor's words, by which clients know that they have to send the whole conversation. */
function previousNotFound(id: string): GatewayError {
  const message = `Previous response with id '${id}' not found. ${notStored}`;
  return new GatewayError('previous_response_not_found', message, {
    status: 400,
    type: 'invalid_request_error',
    param: 'previous_response_id',
  });
}

const notStored =
  'The response it names was not stored, has expired, or was deleted, perhaps to make room for newer ones: send the whole conversation as "input".';
