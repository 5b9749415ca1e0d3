import { globMatcher, type CatalogModel } from '../plugin/internal.js';
import type { SlotConfig } from '../config/config.js';

/** Upstream's names of the models that a slot serves: that of its own map, else that of the catalog. */
export class ModelNames {
  /** Entries of the map: ids before globs. Empty without a map. */
  readonly #entries: readonly {
    readonly matches: (id: string) => boolean;
    readonly name: string | undefined;
  }[];

  constructor({ models, upstreamModels }: Pick<SlotConfig, 'models' | 'upstreamModels'>) {
    const sorted = upstreamModels ? models.toSorted((a, b) => Number(isGlob(a)) - Number(isGlob(b))) : [];
    this.#entries = sorted.map((glob) => ({ matches: globMatcher([glob]), name: upstreamModels?.[glob] }));
  }

  of(model: NamedModel): string {
    const { upstreamModel } = model;
    if (this.#entries.length === 0) return upstreamModel;
    return this.#entries.find(({ matches }) => isNamed(model, matches))?.name ?? upstreamModel;
  }
}

type NamedModel = Pick<CatalogModel, 'id' | 'upstreamModel'> & {
  readonly aliases?: readonly string[] | undefined;
};

/** True if one of a model's names matches: its catalog id, an alias, or its name at upstreams. */
export function isNamed(
  { id, upstreamModel, aliases = [] }: NamedModel,
  matches: (name: string) => boolean,
): boolean {
  return matches(id) || matches(upstreamModel) || aliases.some(matches);
}

function isGlob(model: string): boolean {
  return model.includes('*');
}
