import { globMatcher } from '../../../plugin/index.js';
import type { ListedModel } from '../../../plugin/upstream/index.js';
import { partsOf } from '../../models/name-parts.js';
import type { SlotConfig } from '../../../config/config.js';
import { isNamed, type NamedModel } from '../model-names.js';

/** Models of a slot with `models: discover`: those of its upstream's list that the slot's filter lets through. */
export class DiscoveredModels {
  #listed: readonly ListedModel[] | undefined;
  #isOn = false;
  #matches: (name: string) => boolean = () => true;
  #models: readonly ListedModel[] = [];
  /** Listed ids by all names of a model. */
  #ids: ReadonlyMap<string, string> = new Map();

  /** `known`: models of a kind without a list; absent: the list is fetched later. */
  constructor(known?: readonly ListedModel[]) {
    this.#listed = known;
  }

  /** True while the slot serves its upstream's list. */
  get isOn(): boolean {
    return this.#isOn;
  }

  /** Models that the slot serves because they are listed; none before the first list. */
  get list(): readonly ListedModel[] {
    return this.#models;
  }

  configure({ discovers = false, filter }: Pick<SlotConfig, 'discovers' | 'filter'>): void {
    this.#isOn = discovers;
    this.#matches = filter ? globMatcher(filter) : () => true;
    this.#index();
  }

  /** Takes a list, an empty one for none; true if it is the first one. */
  take(listed: readonly ListedModel[]): boolean {
    const isFirst = this.#listed === undefined && listed.length > 0;
    this.#listed = listed.length > 0 ? listed : undefined;
    this.#index();
    return isFirst;
  }

  /** True for a listed model; before the first list for any that the filter accepts. */
  serves(model: NamedModel): boolean {
    return this.#listed ? this.idOf(model) !== undefined : isNamed(model, this.#matches);
  }

  /** Listed id of a model, which is sent upstream; undefined if it is not listed, or no list is known. */
  idOf({ id, upstreamModel }: NamedModel): string | undefined {
    if (!this.#isOn) return undefined;
    const found = this.#ids.get(upstreamModel);
    return found ?? (partsOf(upstreamModel)?.isDated ? undefined : this.#ids.get(id));
  }

  #index(): void {
    const listed = this.#isOn ? (this.#listed ?? []) : [];
    this.#models = listed.filter((model) => namesOf(model).some(this.#matches));
    const names = this.#models.flatMap((model) => namesOf(model).map((name) => [name, model.id] as const));
    this.#ids = new Map([...names.toReversed(), ...this.#models.map(({ id }) => [id, id] as const)]); // the newest wins
  }
}

/** Names by which a listed model may be asked: its own, and those without a date, the vendor's prefix or `:latest`. */
function namesOf({ id, aliases = [] }: ListedModel): readonly string[] {
  return [id, ...aliases].flatMap((name) => {
    const parts = partsOf(name);
    return [name, ...(parts ? [parts.undated, parts.short] : []), name.replace(/:latest$/, '')];
  });
}
