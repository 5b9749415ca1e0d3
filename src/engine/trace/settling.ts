import type { GatewayState, Logger, Outcome } from '../../plugin/index.js';
import { pluginPlace } from './plugin-place.js';

type SettledListener = Parameters<GatewayState['onSettled']>[0];

/** Work with listeners that are called at its end: a request, or a call of a stage. */
export abstract class Settling {
  readonly #listeners: SettledListener[] = [];
  #outcome: Outcome | undefined;
  #counted: Promise<unknown> | undefined;

  /** Log for errors of listeners. */
  protected abstract get log(): Logger;

  /** Calls `listener` once the work has ended; at once if it has. */
  onSettled(listener: SettledListener): void {
    if (this.#outcome) this.#call(listener, this.#outcome);
    else this.#listeners.push(listener);
  }

  /** Settles with the asynchronous listeners; undefined if there are none. */
  get counted(): Promise<unknown> | undefined {
    return this.#counted;
  }

  /** Ends the work and calls the listeners. */
  protected end(outcome: Outcome): void {
    this.#outcome = outcome;
    for (const listener of this.#listeners) this.#call(listener, outcome);
  }

  /** Calls a listener; logs its error, so that the others still run. */
  #call(listener: SettledListener, outcome: Outcome): void {
    try {
      const work: unknown = listener(outcome); // plugins in JavaScript return anything
      if (work instanceof Promise)
        this.#counted = Promise.all([this.#counted, work.catch((error: unknown) => this.#report(error))]);
    } catch (error) {
      this.#report(error);
    }
  }

  #report(error: unknown): void {
    this.log.error({ plugin: pluginPlace(error), err: error }, 'A listener of onSettled failed.');
  }
}
