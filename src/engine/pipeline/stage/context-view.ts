import type Koa from 'koa';

export type AnyContext = Parameters<Koa.Middleware>[0];

const original = Symbol('original context');

/** Views, and the context behind each; a context that is not a view stands for itself. */
export function originalContext<Context extends object>(ctx: Context): Context {
  const { [original]: own } = ctx as { readonly [original]?: Context }; // of views alone
  return own ?? ctx;
}

/**
 * View of a context with another state. While `isOpen` returns false, assignments to it are dropped, and its methods do
 * nothing.
 */
export function contextView(ctx: AnyContext, state: object, isOpen: () => boolean = () => true): AnyContext {
  // Not a proxy of the context itself: its state is fixed, so that no proxy may show another one.
  return new Proxy(Object.create(ctx, { state: { value: state } }) as AnyContext, {
    get(_, key) {
      if (key === 'state') return state;
      if (key === original) return originalContext(ctx);
      const value: unknown = Reflect.get(ctx, key);
      return typeof value === 'function' && !isOpen() ? () => undefined : value;
    },
    set: (_, key, value) => !isOpen() || Reflect.set(ctx, key, value),
  });
}
