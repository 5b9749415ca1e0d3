import type { Intercept } from '../../../plugin/index.js';

/** Parts of a stage that has been set up, as far as it has them. */
export interface ChildParts {
  readonly middleware?: (ctx: object, next: () => Promise<void>) => unknown;
  readonly intercept?: Intercept<object>;
  readonly outermost?: Intercept<object>;
  readonly applies?: (ctx: object) => boolean;
  readonly start?: () => unknown;
  readonly probe?: () => unknown;
  readonly dispose?: () => unknown;
}

const names = ['middleware', 'intercept', 'outermost', 'applies', 'start', 'probe', 'dispose'] as const;

/** Reads the result of a `setup`; the gateway checks the names. */
export function partsOf(made: unknown): ChildParts {
  if (typeof made === 'function') return { middleware: made as NonNullable<ChildParts['middleware']> }; // any function is accepted
  if (typeof made !== 'object' || made === null)
    throw new Error(
      `returned ${String(made)}; its setup must return a middleware, or an object of ${names.join(', ')}`,
    );
  const unknown = Object.keys(made).find((name) => !names.some((known) => known === name));
  if (unknown !== undefined)
    throw new Error(
      `returned an object with "${unknown}"; its setup must return an object of ${names.join(', ')}`,
    );
  const parts = made as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    names.flatMap((name) => {
      const part = parts[name];
      return typeof part === 'function' ? [[name, part.bind(made) as unknown]] : [];
    }),
  );
}
