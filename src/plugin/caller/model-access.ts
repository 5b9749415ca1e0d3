import { GatewayError } from '../contract/error.js';
import { globMatcher } from '../../kit/glob.js';
import type { MessagesRequest } from '../contract/messages.js';
import type { CatalogModel, Models } from '../contract/models.js';
import type { Caller } from '../contract/caller.js';

/**
 * True if a caller may use a model: its key lists the catalog id, the catalog's upstream name, or the name that is sent
 * upstream as written. An unknown model is checked by the name itself.
 */
export function mayUseModel(caller: Pick<Caller, 'models'>, model: string, models: Models): boolean {
  if (!caller.models) return true;
  const id = models.idOf(model);
  const found = models.find(models.find(id)?.id ?? id);
  return [id, ...(found ? namesIn(models, found) : [])].some(globMatcher(caller.models));
}

/** Names under which a catalog lists a model: its id, and its upstream name unless another model has that. */
export function namesIn(models: Models, { id, upstreamModel }: CatalogModel): readonly string[] {
  const isOwn = upstreamModel !== id && models.find(upstreamModel)?.id === id;
  return isOwn ? [id, upstreamModel] : [id];
}

/**
 * Error for a call that a key does not permit, by the request's model or by those of the upstream's own tools (an
 * advisor, say); undefined if it does.
 */
export function modelRefusal(
  caller: Caller,
  { model, tools }: MessagesRequest,
  models: Models,
): GatewayError | undefined {
  if (!caller.models) return undefined;
  const refused = mayUseModel(caller, model, models) ? forbiddenTool(caller, tools, models) : model;
  if (refused === undefined) return undefined;
  const [key, name] = [JSON.stringify(caller.name), JSON.stringify(refused)];
  return new GatewayError('forbidden', `The key ${key} may not use model ${name}.`);
}

/** Model of a tool that a caller may not use. */
function forbiddenTool(caller: Caller, tools: unknown, models: Models): string | undefined {
  const matches = globMatcher(caller.models ?? ['*']);
  return [...new Set(modelsOf(tools))].find((name) => !namesOf(name, models).some(matches));
}

/** Models named by tools, which a Messages body does not validate against their type. */
function modelsOf(tools: unknown): readonly string[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: unknown) => {
    const model = typeof tool === 'object' && tool !== null && 'model' in tool ? tool.model : undefined;
    return typeof model === 'string' ? [model] : [];
  });
}

/** Catalog names of a tool's model, which has the upstream's name, since tools go out unchanged. */
function namesOf(upstreamModel: string, models: Models): readonly string[] {
  const named = models.list().filter((model) => model.upstreamModel === upstreamModel);
  if (named.length > 0) return named.flatMap((model) => namesIn(models, model));
  const found = models.find(upstreamModel);
  if (found?.upstreamModel !== upstreamModel) return [upstreamModel];
  return [...namesIn(models, models.find(found.id) ?? found), upstreamModel];
}
