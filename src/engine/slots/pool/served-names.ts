import { namesIn } from '../../../plugin/core.js';
import type { Models } from '../../../plugin/index.js';
import { wantedModel, type SlotEntry } from './slot-entry.js';

/** Names of models that slots serve, in any state. */
export class ServedNames {
  readonly #entries: () => readonly SlotEntry[];
  readonly #models: () => Models;

  constructor(entries: () => readonly SlotEntry[], models: () => Models) {
    this.#entries = entries;
    this.#models = models;
  }

  /** True if a slot serves a model of this name. */
  serves(name: string): boolean {
    const model = wantedModel(this.#models(), name);
    return this.#entries().some((entry) => entry.serves(model));
  }

  /** True if a slot has this id. */
  hasSlot(id: string): boolean {
    return this.#entries().some((entry) => entry.id === id);
  }

  /** Ids and upstream names of the listed models that slots serve. */
  get names(): readonly string[] {
    const models = this.#models();
    return models.listed().flatMap((model) => (this.serves(model.id) ? namesIn(models, model) : []));
  }
}
