import { pathToRegexp } from 'path-to-regexp';
import type { ConfigProblem, Position } from '../../../config/config.js';
import type { RoutePath } from '../../../plugin/core.js';

/** An entry of the config that brings routes. */
export interface RouteOwner {
  readonly config: OwnerConfig;
  /** Name of the entry in problems. */
  readonly subject: string;
  readonly patterns: readonly Pattern[];
}

interface OwnerConfig {
  readonly at: Position;
  readonly path: string;
  readonly use: string;
}

/** Patterns of the routes of formats, which are the same in each pipeline. */
const known = new WeakMap<object, readonly Pattern[]>();

export function routeOwner(config: OwnerConfig, subject: string, routes: readonly OwnedRoute[]): RouteOwner {
  const patterns = known.get(routes) ?? routes.flatMap(patternsOf);
  known.set(routes, patterns);
  return { config, subject, patterns };
}

interface OwnedRoute extends Pick<RoutePath, 'method' | 'path'> {
  readonly websocket?: boolean;
}

/** Patterns of a route, including GET for a WebSocket. */
function patternsOf({ method, path, websocket }: OwnedRoute): readonly Pattern[] {
  const own = patternOf(method, path);
  return websocket ? [own, patternOf('GET', path)] : [own];
}

/** Problems of an owner with itself, with those above it, and with the paths of the gateway itself. */
export function routeProblems(owner: RouteOwner, above: readonly RouteOwner[]): readonly ConfigProblem[] {
  const { config, subject, patterns } = owner;
  const problem = (message: string): ConfigProblem => ({
    at: config.at,
    path: config.path,
    subject,
    message,
  });
  return patterns.flatMap((pattern, index) => {
    const name = `${pattern.method} ${pattern.path}`;
    if (ownPatterns.some((theirs) => takesOwn(pattern, theirs)))
      return [problem(`has ${name}, a path of the gateway itself; use another one`)];
    const other = above.find((one) => one.patterns.some((theirs) => overlap(pattern, theirs)));
    if (other) return [problem(`has ${name}, which ${placeOf(other)} also has; list only one of them`)];
    const isTwice = patterns.slice(0, index).some((earlier) => overlap(pattern, earlier));
    return isTwice ? [problem(`has ${name} twice`)] : [];
  });
}

export function placeOf({ config: { path, use, at } }: RouteOwner): string {
  return `${path} "${use}" at line ${at.line}`;
}

/** True for a path that a router can read. */
export function isPattern(path: unknown): boolean {
  if (typeof path !== 'string' || !/^\{?\//.test(path)) return false;
  try {
    return Boolean(pathToRegexp(path));
  } catch {
    return false;
  }
}

/** Paths that the gateway itself answers, with any formats; an area by every method. */
const ownPages = ['/', '/health', '/metrics', '{/v1}/meta', '{/v1}/models{/:id}', '{/v1}/usage'];
const ownAreas = ['/admin{/*rest}', '/api/panel{/*rest}', '/panel{/*rest}', '/openapi.json'];

const ownPatterns: readonly Pattern[] = [
  ...ownPages.map((path) => patternOf('GET', path)),
  ...ownAreas.map((path) => patternOf('any', path)),
];

/** Path of a route, with its matches. */
interface Pattern {
  readonly method: string;
  readonly path: string;
  readonly regexp: RegExp;
  /** The path with and without its optional parts. */
  readonly variants: readonly string[];
}

function patternOf(method: string, path: string): Pattern {
  return { method, path, regexp: pathToRegexp(path).regexp, variants: variantsOf(path) };
}

function variantsOf(path: string): readonly string[] {
  const optional = /\{([^{}]*)\}/;
  if (!optional.test(path)) return [path];
  return ['$1', ''].flatMap((part) => variantsOf(path.replace(optional, part)));
}

/** True for two patterns of a method that share a matching path. */
const overlap = onceForPair((one, other) => {
  if (one.method !== other.method) return false;
  const examples = one.variants.flatMap((ours) =>
    other.variants.flatMap((theirs) => [...filled(joined(ours, theirs)), ...filled(joined(theirs, ours))]),
  );
  return examples.some((path) => matches(one, path) && matches(other, path));
});

/** True for a pattern that takes paths of the gateway; not for `/:tenant/lines`, though `/admin/lines` matches it. */
const takesOwn = onceForPair((one, own) => {
  if (one.method !== own.method && own.method !== 'any') return false;
  return (
    own.variants.flatMap(filled).some((path) => matches(one, path)) ||
    one.variants.flatMap(filled).some((path) => matches(own, path))
  );
});

type Compare = (one: Pattern, other: Pattern) => boolean;

/** Caches the result for two patterns. */
function onceForPair(compare: Compare): Compare {
  const found = new WeakMap<Pattern, WeakMap<Pattern, boolean>>();
  return (one, other) => {
    const row = found.get(one) ?? new WeakMap<Pattern, boolean>();
    found.set(one, row);
    const result = row.get(other) ?? compare(one, other);
    row.set(other, result);
    return result;
  };
}

function matches({ regexp }: Pattern, path: string): boolean {
  return regexp.test(path);
}

/** A pattern with the other one's literals for its parameters, where available. */
function joined(pattern: string, other: string): string {
  const theirs = other.split('/');
  const segments = pattern.split('/').flatMap((segment, at) => {
    if (segment.startsWith('*') && theirs.length > at) return theirs.slice(at);
    return /^:\w+$/.test(segment) ? (theirs[at] ?? segment) : segment;
  });
  return segments.join('/');
}

/** Paths of a pattern: parameters with some value, and wildcards of some depths. */
function filled(pattern: string): readonly string[] {
  return ['x', 'x/x', 'x/x/x', 'x/x/x/x'].map((rest) =>
    pattern.replaceAll(
      /\\(.)|([:*])\w+/g,
      (_, literal: string | undefined, sign: string) => literal ?? (sign === '*' ? rest : 'x'),
    ),
  );
}
