import { globMatcher, type CatalogModel } from '../../plugin/index.js';
import type { SlotConfig } from '../../config/config.js';

/** Upstream's names of the models that a slot serves: that of its own map, else that of the catalog. */
export class ModelNames {
  /** Entries of the map that are names, to the upstream's or to undefined. Empty without a map. */
  readonly #names: ReadonlyMap<string, string | undefined>;
  readonly #globs: readonly {
    readonly matches: (id: string) => boolean;
    readonly name: string | undefined;
  }[];

  constructor({ models, upstreamModels }: Pick<SlotConfig, 'models' | 'upstreamModels'>) {
    const mapped = upstreamModels ? models : [];
    this.#names = new Map(
      mapped.filter((name) => !isGlob(name)).map((name) => [name, upstreamModels?.[name]]),
    );
    this.#globs = mapped
      .filter(isGlob)
      .map((glob) => ({ matches: globMatcher([glob]), name: upstreamModels?.[glob] }));
  }

  of(model: NamedModel): string {
    const { id, upstreamModel, aliases = [] } = model;
    if (this.#names.size === 0 && this.#globs.length === 0) return upstreamModel;
    const listed = [id, upstreamModel, ...aliases].find((name) => this.#names.has(name));
    if (listed !== undefined) return this.#names.get(listed) ?? upstreamModel;
    return this.#globs.find(({ matches }) => isNamed(model, matches))?.name ?? upstreamModel;
  }
}

/** A model by its names in the catalog, or by the requested name. */
export type NamedModel = Pick<CatalogModel, 'id' | 'upstreamModel'> & {
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
