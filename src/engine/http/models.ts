import {
  GatewayError,
  mayUseModel,
  type Caller,
  type CatalogModel,
  type Models,
} from '../../plugin/index.js';
import { namesIn } from '../../plugin/core.js';

/**
 * `GET /v1/models`: models of the caller by id and by upstream name, with both vendors' fields; paged by `limit`,
 * `after_id`, `before_id`.
 */
export function listModels(models: Models, query: URLSearchParams, caller: Caller | undefined): object {
  const usable = models.listed().filter(({ id }) => !caller || mayUseModel(caller, id, models));
  const all = usable.flatMap((model) => namesIn(models, model).map((id) => ({ ...model, id })));
  const after = indexOf(all, query, 'after_id');
  const before = indexOf(all, query, 'before_id');
  const limit = limitOf(query);
  const window = all.slice(after === undefined ? 0 : after + 1, before);
  const page = before !== undefined && after === undefined ? window.slice(-limit) : window.slice(0, limit);
  return {
    object: 'list',
    data: page.map(modelEntry),
    has_more: page.length < window.length,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

/** `GET /v1/models/:id`, also by upstream name and by alias. Throws `model_not_found`, also for a model hidden from the list. */
export function showModel(models: Models, id: string, caller: Caller | undefined): object {
  const model = models.find(id) ?? models.listed().find((listed) => listed.id === id);
  if (!model || (caller && !mayUseModel(caller, model.id, models)))
    throw new GatewayError('model_not_found', `The catalog has no model "${id}".`);
  const isListed = namesIn(models, models.find(model.id) ?? model).includes(id);
  return modelEntry(isListed ? { ...model, id } : model);
}

function modelEntry(model: CatalogModel): object {
  return {
    id: model.id,
    object: 'model',
    created: model.created,
    owned_by: 'gw2api',
    type: 'model',
    display_name: model.displayName,
    created_at: new Date(model.created * 1000).toISOString().replace('.000Z', 'Z'),
    max_tokens: model.maxTokens,
    context_window: model.contextWindow ?? null,
    max_input_tokens: model.contextWindow ?? null,
    lifecycle: 'active',
    line: null,
    deprecated_at: null,
    retires_at: null,
    capabilities: null,
  };
}

function indexOf(all: readonly CatalogModel[], query: URLSearchParams, name: string): number | undefined {
  const id = query.get(name);
  if (id === null) return undefined;
  const index = all.findIndex((model) => model.id === id);
  if (index < 0) throw new GatewayError('invalid_request', `${name}: the catalog has no model "${id}".`);
  return index;
}

/** 1 to 1000; all by default, as clients without paging expect. */
function limitOf(query: URLSearchParams): number {
  const text = query.get('limit');
  if (text === null) return 1000;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1000) return limit;
  throw new GatewayError('invalid_request', `limit: must be a whole number from 1 to 1000, not "${text}".`);
}
