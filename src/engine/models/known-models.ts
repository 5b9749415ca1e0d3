import { growingCache } from '../../kit/growing-cache.js';
import { maxNameLength, shortName } from './name-parts.js';
import type { CacheStats } from '../../plugin/core.js';
import type { ListedModel } from '../../plugin/upstream/index.js';
import type { ModelProfile } from '../../plugin/format/index.js';
import { corrected, commonProfile } from './profile.js';

/** The slots, as far as names of models need them. */
interface ServedNames {
  /** True if a slot serves a model of this name. */
  serves(name: string): boolean;
  hasSlot(id: string): boolean;
}

/** Model profiles learned from upstreams: from their lists, and from refusals. */
export class KnownModels {
  readonly #learned = growingCache<ModelProfile>(maxLearned);
  #listed: Index = { byId: new Map(), byShortName: new Map() };
  #discovered: () => readonly ListedModel[] = () => [];
  #onUnknown: () => void = () => undefined;
  #served: ServedNames = { serves: () => true, hasSlot: () => false };

  get fill(): CacheStats {
    return { entries: this.#learned.size, capacity: maxLearned };
  }

  /** Calls `listener` when a requested model is in no catalog; the listener must return at once. */
  onUnknown(listener: () => void): void {
    this.#onUnknown = listener;
  }

  /** Asks for lists that are stale, in the background. */
  refresh(): void {
    this.#onUnknown();
  }

  /** Takes the models that slots discover from `source`. */
  discoverFrom(source: () => readonly ListedModel[]): void {
    this.#discovered = source;
  }

  /** Takes the names that slots serve from `source`. */
  servedBy(source: ServedNames): void {
    this.#served = source;
  }

  /** Names that slots serve; before `servedBy` all of them. */
  get served(): ServedNames {
    return this.#served;
  }

  /** Models of the slots that serve their upstream's list; requests stale lists. */
  get discovered(): readonly ListedModel[] {
    this.refresh();
    return this.#discovered();
  }

  /** Profile of a model outside the catalog, by its upstream name. */
  profile(name: string): ModelProfile {
    this.#onUnknown();
    const { byId, byShortName } = this.#listed;
    const listed = byId.get(name) ?? byShortName.get(shortName(name)) ?? nothing;
    const learned = this.learned(name);
    return learned ? corrected(listed, learned) : listed;
  }

  /** Profile of a model learned from refusals. */
  learned(name: string): ModelProfile | undefined {
    return this.#learned.get(name);
  }

  learn(name: string, profile: ModelProfile): void {
    if (name.length > maxNameLength) return;
    this.#learned.set(name, corrected(this.#learned.get(name) ?? nothing, profile));
  }

  /** Replaces the listed models, with one list per upstream. */
  takeLists(lists: readonly (readonly ListedModel[])[]): void {
    this.#listed = {
      byId: merged(lists, ({ id }) => id),
      byShortName: merged(lists.map(newest), ({ id }) => shortName(id)),
    };
  }
}

const maxLearned = 1000;

interface Index {
  readonly byId: ReadonlyMap<string, ModelProfile>;
  /** A model by the short form of its name: of several dated ones the newest. */
  readonly byShortName: ReadonlyMap<string, ModelProfile>;
}

const nothing: ModelProfile = {};

function merged(
  lists: readonly (readonly ListedModel[])[],
  nameOf: (model: ListedModel) => string,
): ReadonlyMap<string, ModelProfile> {
  const profiles = new Map<string, ModelProfile>();
  for (const { id, aliases: _, ...profile } of lists.flat()) {
    const name = nameOf({ id });
    const known = profiles.get(name);
    profiles.set(name, known ? commonProfile(known, profile) : profile);
  }
  return profiles;
}

/** Listed models, the newest first. */
function newest(list: readonly ListedModel[]): readonly ListedModel[] {
  const first = new Map<string, ListedModel>();
  for (const model of list) {
    const name = shortName(model.id);
    if (!first.has(name)) first.set(name, model);
  }
  return [...first.values()];
}
