import type { CatalogModel, Models } from '../plugin/index.js';

/** The catalog by id and alias; each of them names one model, which `loadConfig` has checked. */
export function createModels(models: readonly CatalogModel[]): Models {
  const byName = new Map(
    models.flatMap((model) => [model.id, ...model.aliases].map((name) => [name, model])),
  );
  return { find: (id) => byName.get(id), list: () => models };
}
