import type Koa from 'koa';
import type { Plugin, Intercept } from '../../../plugin/index.js';
import type { Interceptor } from '../../../plugin/core.js';
import { didYouMean } from '../../../kit/schema/did-you-mean.js';

/** Parts of a stage that has been set up. */
export interface ReadyParts {
  /** Undefined for a stage that requests do not pass. */
  readonly middleware: Koa.Middleware | undefined;
  readonly intercept: Intercept | undefined;
  readonly outermost: Intercept | undefined;
  readonly applies: Interceptor['applies'];
  readonly start: Act | undefined;
  readonly probe: Act | undefined;
  readonly dispose: Act | undefined;
}

type Act = () => void | Promise<void>;

/** Reads the result of a `setup`. Throws an Error whose message continues the name of the stage. */
export function stageParts(made: unknown, { intercepts }: Pick<Plugin, 'intercepts'>): ReadyParts {
  const parts = readParts(made);
  if (intercepts && !parts.intercept)
    throw new Error('has intercepts: true, but its setup returned no intercept; let it return { intercept }');
  if (!intercepts && parts.intercept)
    throw new Error('returned an intercept that its definition does not declare; add intercepts: true to it');
  return parts;
}

function readParts(made: unknown): ReadyParts {
  if (typeof made === 'function') return { ...nothing, middleware: made as Koa.Middleware }; // any function is accepted as middleware
  if (typeof made !== 'object' || made === null || Array.isArray(made)) throw unfit(describe(made));
  for (const [name, part] of Object.entries(made)) {
    if (!names.includes(name)) throw unfit(`an object with "${name}"${hint(name)}`);
    if (part !== undefined && typeof part !== 'function') throw unfit(`${describe(part)} as "${name}"`);
  }
  const { middleware, intercept, outermost, applies, start, probe, dispose } = made as ReadyParts; // functions, if present
  return {
    middleware: middleware?.bind(made),
    intercept: intercept?.bind(made),
    outermost: outermost?.bind(made),
    applies: applies?.bind(made),
    start: start?.bind(made),
    probe: probe?.bind(made),
    dispose: dispose?.bind(made),
  };
}

const nothing: ReadyParts = {
  middleware: undefined,
  intercept: undefined,
  outermost: undefined,
  applies: undefined,
  start: undefined,
  probe: undefined,
  dispose: undefined,
};
const names: readonly string[] = Object.keys(nothing);

function unfit(what: string): Error {
  return new Error(
    `returned ${what}; its setup must return a middleware, or an object of ${names.join(', ')}`,
  );
}

function hint(name: string): string {
  const meant = didYouMean(name, names);
  return meant ? ` (did you mean "${meant}"?)` : '';
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
