import { contextView, type AnyContext } from '../stage/context-view.js';

/** True until the time of a stage is over. */
export interface Opening {
  isOpen: boolean;
}

/**
 * View of a request's context for a stage with a time limit: what the stage sets is dropped once its time is
 * over, as the request has gone on without it.
 */
export function whileOpen(ctx: AnyContext, opening: Opening): AnyContext {
  const state = new Proxy<object>(ctx.state, {
    get: (target, key) => Reflect.get(target, key), // its getters read private fields of the state itself
    set: (target, key, value) => !opening.isOpen || Reflect.set(target, key, value),
    deleteProperty: (target, key) => !opening.isOpen || Reflect.deleteProperty(target, key),
    defineProperty: (target, key, shape) => !opening.isOpen || Reflect.defineProperty(target, key, shape),
  });
  return contextView(ctx, state, () => opening.isOpen);
}
