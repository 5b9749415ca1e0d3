import { isGatewayError } from '@gw2api/gateway/plugin';
import {
  foreign,
  jsonFields,
  type HttpClient,
  type ListedModel,
  type UpstreamQuery,
} from '@gw2api/gateway/plugin/upstream';
import { openaiRefusal } from './openai-refusal.js';
import { fieldsOf, listOf, type Fields } from '../fields.js';

/** Path on the server, and the header of a key for it. */
export interface Endpoint {
  readonly path: string;
  readonly keyHeader: string;
}

interface ModelListing extends UpstreamQuery {
  readonly slot: string;
  /** Kind of the upstream. */
  readonly kind: string;
  readonly request: Endpoint;
  readonly http: HttpClient;
  readonly now: () => number;
}

/** The models of `GET {base}/models`, a bounded number of them. Throws as a call does. */
export async function listModels(listing: ModelListing): Promise<readonly ListedModel[]> {
  const { slot, kind, request, http, now, authorize, signal } = listing;
  const terms = { signal, authorize, headersTimeoutMs: timeoutMs, idleTimeoutMs: timeoutMs };
  const answer = await http.send(request, terms);
  const text = await answer.text(maxBytes);
  if (answer.status >= 400) throw openaiRefusal(answer, text, now());
  const data = listIn(text);
  if (!data) throw foreign(slot, `${answer.status} ${answer.mediaType}`.trim(), { kind });
  return listOf(data).slice(0, maxModels).flatMap(modelIn);
}

/** Entries of a list; some servers (Together) send them bare. */
function listIn(text: string): readonly unknown[] | undefined {
  const { data } = text.trimStart().startsWith('[') ? jsonFields(`{"data":${text}}`) : jsonFields(text);
  return Array.isArray(data) ? data : undefined;
}

/**
 * Probe by a list of models, which costs nothing; a server without that list (404, 405 or 501) counts as accepting.
 * Throws as the list does.
 */
export async function probeByModels(list: () => Promise<readonly ListedModel[]>): Promise<void> {
  try {
    await list();
  } catch (error) {
    if (!isGatewayError(error) || ![404, 405, 501].includes(error.status)) throw error;
  }
}

const maxModels = 2000;
const maxBytes = 8 * 1024 * 1024;
const timeoutMs = 10_000;
const maxIdLength = 200;

/** The model that an entry describes; none if it has no name. */
function modelIn(entry: unknown): readonly ListedModel[] {
  const fields = fieldsOf(entry);
  const { id: listed } = fields;
  if (typeof listed !== 'string' || listed === '' || listed.length > maxIdLength) return [];
  const id = listed.replace(/^models\/(?=.)/, ''); // Google lists resources, and is called by their names
  const contextWindow = firstCount(fields, [
    'context_length',
    'context_window',
    'max_model_len',
    'max_context_length',
  ]);
  const { max_completion_tokens: limit } = fieldsOf(fields['top_provider']);
  const maxTokens = firstCount({ limit, ...fields }, ['limit', 'max_completion_tokens']);
  return [
    {
      id,
      ...(id !== listed && { aliases: [listed] }),
      ...(maxTokens !== undefined && { maxTokens }),
      ...(contextWindow !== undefined && { contextWindow }),
    },
  ];
}

/** First of these fields that is a count: servers use different names. */
function firstCount(fields: Fields, names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  }
  return undefined;
}
