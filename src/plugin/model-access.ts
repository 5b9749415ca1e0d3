import { GatewayError } from './error.js';
import { globMatcher } from './glob.js';
import type { MessagesRequest } from './contract/messages.js';
import type { Models } from './contract/models.js';
import type { Caller } from './contract/caller.js';

/**
 * True if a caller may use a model: its key lists the catalog id, or the name that goes upstream as written. A
 * model that no catalog knows goes by the name itself.
 */
export function mayUseModel(caller: Pick<Caller, 'models'>, model: string, models: Models): boolean {
  if (!caller.models) return true;
  const id = models.idOf(model);
  const matches = globMatcher(caller.models);
  return matches(id) || matches(models.find(id)?.id ?? id);
}

/**
 * Error for a call that a key may not make, by the request's model or by those of the upstream's own tools (an
 * advisor, say); undefined if it may.
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
  return [...new Set(modelsOf(tools))].find((name) => !idsOf(name, models).some(matches));
}

/** Models named by tools. The tools of a Messages body are not validated, whatever their type says. */
function modelsOf(tools: unknown): readonly string[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: unknown) => {
    const model = typeof tool === 'object' && tool !== null && 'model' in tool ? tool.model : undefined;
    return typeof model === 'string' ? [model] : [];
  });
}

/** Catalog ids of a tool's model, which has the upstream's name, since tools go out unchanged. */
function idsOf(upstreamModel: string, models: Models): readonly string[] {
  const ids = models.list().flatMap((model) => (model.upstreamModel === upstreamModel ? [model.id] : []));
  if (ids.length > 0) return ids;
  const found = models.find(upstreamModel);
  return found?.upstreamModel === upstreamModel ? [found.id, upstreamModel] : [upstreamModel];
}
