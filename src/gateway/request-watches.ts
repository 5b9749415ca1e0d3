import type { RequestWatch } from './extension.js';

/**
 * Watches of all open extensions, composed when one is added: a hook that nobody has is undefined, and one that a single
 * extension has is its own function.
 */
export class RequestWatches implements RequestWatch {
  begin: RequestWatch['begin'];
  complete: RequestWatch['complete'];
  settled: RequestWatch['settled'];
  readonly #all: RequestWatch[] = [];

  add(watch: RequestWatch): void {
    this.#all.push(watch);
    this.begin = inTurn(this.#all.map(({ begin }) => begin));
    this.complete = inTurn(this.#all.map(({ complete }) => complete));
    this.settled = inTurn(this.#all.map(({ settled }) => settled));
  }
}

type Hook<Value> = (value: Value) => void;

/** Calls all hooks, in their order. */
function inTurn<Value>(hooks: readonly (Hook<Value> | undefined)[]): Hook<Value> | undefined {
  const present = hooks.filter((hook) => hook !== undefined);
  if (present.length <= 1) return present[0];
  return (value) => {
    for (const hook of present) hook(value);
  };
}
