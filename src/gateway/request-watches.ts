import type { RequestWatch } from './extension.js';

/**
 * Watches of all open extensions, composed when one is added: an unused hook is undefined, and one of a single
 * extension is its own function.
 */
export class RequestWatches implements RequestWatch {
  listening: RequestWatch['listening'];
  place: RequestWatch['place'];
  runtimeOf: RequestWatch['runtimeOf'];
  begin: RequestWatch['begin'];
  complete: RequestWatch['complete'];
  settled: RequestWatch['settled'];
  completeCall: RequestWatch['completeCall'];
  callSettled: RequestWatch['callSettled'];
  readonly #all: RequestWatch[] = [];

  add(watch: RequestWatch): void {
    this.#all.push(watch);
    this.listening = inTurn(this.#all.map(({ listening }) => listening));
    this.place = firstOf(this.#all.map(({ place }) => place));
    this.runtimeOf = firstOf(this.#all.map(({ runtimeOf }) => runtimeOf));
    this.begin = inTurn(this.#all.map(({ begin }) => begin));
    this.complete = inTurn(this.#all.map(({ complete }) => complete));
    this.settled = inTurn(this.#all.map(({ settled }) => settled));
    this.completeCall = inTurn(this.#all.map(({ completeCall }) => completeCall));
    this.callSettled = inTurn(this.#all.map(({ callSettled }) => callSettled));
  }
}

type Hook<Value, Result = void> = (value: Value) => Result;

/** Calls the hooks in their order until one has a result. */
function firstOf<Value, Result>(
  hooks: readonly (Hook<Value, Result | undefined> | undefined)[],
): Hook<Value, Result | undefined> | undefined {
  const present = hooks.filter((hook) => hook !== undefined);
  if (present.length <= 1) return present[0];
  return (value) => {
    for (const hook of present) {
      const result = hook(value);
      if (result !== undefined) return result;
    }
    return undefined;
  };
}

/** Calls all hooks, in their order. */
function inTurn<Value>(hooks: readonly (Hook<Value> | undefined)[]): Hook<Value> | undefined {
  const present = hooks.filter((hook) => hook !== undefined);
  if (present.length <= 1) return present[0];
  return (value) => {
    for (const hook of present) hook(value);
  };
}
