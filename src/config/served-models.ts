import type { SchemaError } from '../plugin/internal.js';
import type { SlotConfig } from './config.js';
import type { RawSlot } from './schema.js';

/** Models that a slot serves, and the upstream's names of those that have one of their own. */
export function servedModels(
  models: RawSlot['models'],
): Pick<SlotConfig, 'models' | 'discovers' | 'upstreamModels'> {
  if (!isMap(models)) {
    const names = [models].flat();
    return names.join() === discover ? { models: [], discovers: true } : { models: names };
  }
  const named = Object.entries(models).filter((entry): entry is [string, string] => entry[1] !== true);
  return {
    models: Object.keys(models),
    ...(named.length > 0 && { upstreamModels: Object.fromEntries(named) }),
  };
}

/** Errors of models that a map says false of; a model that is not served is left out. */
export function servedModelErrors(models: RawSlot['models']): readonly SchemaError[] {
  const message =
    'must be the name of the model at the upstream, or true; leave out what the slot does not serve';
  return Object.entries(isMap(models) ? models : {})
    .filter(([, name]) => (name as unknown) === false) // booleans pass the schema
    .map(([model]) => ({ path: ['models', model], message }));
}

/** Value of `models` for what the upstream lists. */
const discover = 'discover';

function isMap(models: RawSlot['models']): models is Readonly<Record<string, string | true>> {
  return typeof models === 'object' && !Array.isArray(models);
}
