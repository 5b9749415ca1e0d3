import type { SchemaError } from '../../plugin/upstream/index.js';
import type { SlotConfig } from '../config.js';
import type { RawSlot } from './slot-schema.js';

/** Models that a slot serves, with the upstream's own names. */
export function servedModels({
  models,
  filter,
}: Pick<RawSlot, 'models' | 'filter'>): Pick<
  SlotConfig,
  'models' | 'discovers' | 'filter' | 'upstreamModels'
> {
  if (isDiscovery(models))
    return { models: [], discovers: true, ...(filter !== undefined && { filter: [filter].flat() }) };
  if (!isMap(models)) return { models: [models].flat() };
  const named = Object.entries(models).filter((entry): entry is [string, string] => entry[1] !== true);
  return {
    models: Object.keys(models),
    ...(named.length > 0 && { upstreamModels: Object.fromEntries(named) }),
  };
}

/** Errors of models that a map sets to false; a model that is not served is left out. */
export function servedModelErrors(models: RawSlot['models']): readonly SchemaError[] {
  const message =
    'must be the name of the model at the upstream, or true; omit models that the slot does not serve';
  return Object.entries(isMap(models) ? models : {})
    .filter(([, name]) => (name as unknown) === false) // booleans pass the schema
    .map(([model]) => ({ path: ['models', model], message }));
}

/** Error of a filter over models that are not discovered. */
export function filterErrors({ models, filter }: Pick<RawSlot, 'models' | 'filter'>): readonly SchemaError[] {
  if (filter === undefined || isDiscovery(models)) return [];
  return [
    { path: ['filter'], message: 'works only with `models: discover`; name the models under `models`' },
  ];
}

function isDiscovery(models: RawSlot['models']): boolean {
  return !isMap(models) && [models].flat().join() === discover;
}

/** Value of `models` for the upstream's list. */
const discover = 'discover';

function isMap(models: RawSlot['models']): models is Readonly<Record<string, string | true>> {
  return typeof models === 'object' && !Array.isArray(models);
}
