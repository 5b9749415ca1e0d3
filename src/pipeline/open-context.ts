import type Koa from 'koa';

type Context = Parameters<Koa.Middleware>[0];

/** True until the time of a stage is over. */
export interface Opening {
  isOpen: boolean;
}

/**
 * View of a request's context for a stage with a time limit: what the stage sets is dropped once its time is
 * over, as the request has gone on without it.
 */
export function whileOpen(ctx: Context, opening: Opening): Context {
  const state = new Proxy<object>(ctx.state, {
    get: (target, key) => Reflect.get(target, key), // its getters read private fields of the state itself
    set: (target, key, value) => !opening.isOpen || Reflect.set(target, key, value),
    deleteProperty: (target, key) => !opening.isOpen || Reflect.deleteProperty(target, key),
    defineProperty: (target, key, shape) => !opening.isOpen || Reflect.defineProperty(target, key, shape),
  });
  // Not a proxy of the context itself: its state is fixed, so that no proxy may show another one.
  return new Proxy(Object.create(ctx, { state: { value: state } }) as Context, {
    get(_, key) {
      if (key === 'state') return state;
      const value: unknown = Reflect.get(ctx, key);
      return typeof value === 'function' && !opening.isOpen ? () => undefined : value;
    },
    set: (_, key, value) => !opening.isOpen || Reflect.set(ctx, key, value),
  });
}
