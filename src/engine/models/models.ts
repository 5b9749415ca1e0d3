import { maxNameLength, partsOf, shorterForms } from './name-parts.js';
import type { CatalogModel, Models } from '../../plugin/index.js';
import type { ModelProfile } from '../../plugin/format/index.js';
import { corrected } from './profile.js';
import { KnownModels } from './known-models.js';
import type { ListedModel } from '../../plugin/upstream/index.js';

/** Model catalog with profiles reported by upstreams; ids and aliases are unique (`loadConfig`). */
export class CatalogModels implements Models {
  readonly #models: readonly CatalogModel[];
  readonly #byName: ReadonlyMap<string, CatalogModel>;
  readonly #byId: ReadonlyMap<string, CatalogModel>;
  readonly #known: KnownModels;

  constructor(models: readonly CatalogModel[], known = new KnownModels()) {
    this.#models = models;
    this.#byId = new Map(models.map((model) => [model.id, model]));
    this.#byName = new Map([
      ...models.toReversed().map((model) => [model.upstreamModel, model] as const), // the first of those that share it
      ...models.flatMap((model) => [model.id, ...model.aliases].map((name) => [name, model] as const)),
    ]);
    this.#known = known;
  }

  find(name: string): CatalogModel | undefined {
    return this.#byName.get(name) ?? this.#findByLongerName(name);
  }

  idOf(name: string): string {
    const found = this.find(name);
    if (!found) return this.#servedName(name);
    return this.#byId.get(found.id)?.upstreamModel === found.upstreamModel ? found.id : name;
  }

  list(): readonly CatalogModel[] {
    return this.#models;
  }

  listed(): readonly CatalogModel[] {
    const others = new Map(this.#known.discovered.map((model) => [model.id, model]));
    const known = this.#models.flatMap(({ id, aliases, upstreamModel }) => [id, upstreamModel, ...aliases]);
    for (const name of known) others.delete(name);
    return others.size === 0 ? this.#models : [...this.#models, ...[...others.values()].map(discoveredModel)];
  }

  profile(name: string): ModelProfile {
    const model = this.find(name);
    if (!model) return this.#known.profile(name);
    const learned = this.#known.learned(model.upstreamModel);
    return learned ? corrected(model, learned) : model;
  }

  learn(name: string, profile: ModelProfile): void {
    this.#known.learn(this.find(name)?.upstreamModel ?? name, profile);
  }

  /**
   * Known name for one that neither the catalog nor a slot has: without the prefix of a vendor or slot, without
   * `:latest`, in another case, each once. The name itself if none is known.
   */
  #servedName(name: string): string {
    const { served } = this.#known;
    if (name.length > maxNameLength || served.serves(name)) return name;
    const names = [...this.#byName.keys(), ...this.#known.discovered.map(({ id }) => id)];
    const exact = new Map(names.map((known) => [known.toLowerCase(), known]));
    for (const form of [name, ...shorterForms(name, (id) => served.hasSlot(id))]) {
      const known = exact.get(form.toLowerCase()) ?? form;
      const found = [known, known.toLowerCase()].find((each) => this.find(each) !== undefined);
      if (found !== undefined) return this.idOf(found);
      if (served.serves(known)) return known;
    }
    return name;
  }

  /**
   * Model of a longer name. The upstream gets the name as written if it is dated, if it is a version of the
   * catalog's upstream name, or if the catalog has none.
   */
  #findByLongerName(name: string): CatalogModel | undefined {
    const parts = partsOf(name);
    const model = parts && (this.#byName.get(parts.undated) ?? this.#byId.get(parts.short));
    if (!model) return undefined;
    const { id, upstreamModel } = model;
    const isWritten = parts.isDated || upstreamModel === id || upstreamModel === parts.undated;
    return isWritten ? { ...model, upstreamModel: name } : model;
  }
}

/** Entry of a model that the catalog lacks, as far as its upstream describes it. */
function discoveredModel({ id, maxTokens, contextWindow, thinking }: ListedModel): CatalogModel {
  return {
    id,
    displayName: id,
    upstreamModel: id,
    maxTokens: maxTokens ?? contextWindow ?? unknownMaxTokens,
    ...(contextWindow !== undefined && { contextWindow }),
    forcedToolChoice: true,
    sampling: 'one',
    thinking: thinking ?? 'none',
    webSearch: false,
    aliases: [],
    created: 0,
  };
}

/** Default cap, for an upstream that names none. */
const unknownMaxTokens = 4096;
