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

  of({ id, upstreamModel }: Pick<CatalogModel, 'id' | 'upstreamModel'>): string {
    if (this.#entries.length === 0) return upstreamModel;
    return this.#entries.find(({ matches }) => matches(id))?.name ?? upstreamModel;
  }
}

function isGlob(model: string): boolean {
  return model.includes('*');
}
