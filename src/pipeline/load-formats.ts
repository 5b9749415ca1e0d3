import { Router } from '@koa/router';
import type { FormatConfig, ConfigProblem, StageConfig } from '../config/config.js';
import { didYouMean, type Format } from '../plugin/internal.js';
import { formatKind } from './format-kind.js';
import { loadEntry, type Loading } from './load-plugin.js';

export interface LoadedFormats {
  readonly formats: readonly Format[];
  readonly problems: readonly ConfigProblem[];
}

/**
 * Loads the formats of a config, checks their options and that no two have a name or a path in common, and
 * that stages wait for no format that there is not. Returns config errors, never throws them.
 */
export async function loadFormats(
  configs: readonly FormatConfig[],
  stages: readonly StageConfig[],
  where: Loading,
): Promise<LoadedFormats> {
  const attempts = await Promise.all(configs.map((config) => loadFormat(config, where)));
  const owned = attempts.flatMap(({ config, format }) => (format ? [ownedBy(config, format)] : []));
  const own = ownPatterns();
  const isComplete = configs.length > 0 && owned.length === configs.length;
  const names = owned.map(({ format }) => format.name);
  return {
    formats: owned.map(({ format }) => format),
    problems: [
      ...attempts.flatMap(({ problems }) => problems),
      ...owned.flatMap((one, at) => clashes(one, owned.slice(0, at), own)),
      ...(isComplete ? stages.flatMap((stage) => unknownFormats(stage, names)) : []),
    ],
  };
}

interface Owned {
  readonly config: FormatConfig;
  readonly format: Format;
  readonly patterns: readonly Pattern[];
}

function ownedBy(config: FormatConfig, format: Format): Owned {
  return { config, format, patterns: format.routes.map(({ method, path }) => patternOf(method, path)) };
}

async function loadFormat(config: FormatConfig, where: Loading) {
  const entry = { ...config, withPath: ['with'] };
  const { plugin, options, problems } = await loadEntry(formatKind, entry, where);
  return { config, format: plugin && { ...plugin, settings: options }, problems };
}

/** Problems of a format with those above it, and with the paths of the gateway itself. */
function clashes(
  { config, format, patterns }: Owned,
  above: readonly Owned[],
  own: readonly Pattern[],
): readonly ConfigProblem[] {
  const { at, path, use } = config;
  const problem = (message: string): ConfigProblem => ({ at, path, subject: use, message });
  const same = above.find((other) => other.format.name === format.name);
  if (same) return [problem(`has the name "${format.name}" of ${placeOf(same)}; list one of them`)];
  return patterns.flatMap((pattern) => {
    const name = `${pattern.method} ${pattern.path}`;
    if (own.some((theirs) => takesOwn(pattern, theirs)))
      return [problem(`has ${name}, a path of the gateway itself; give the format another one`)];
    const owner = above.find((other) => other.patterns.some((theirs) => overlap(pattern, theirs)));
    return owner ? [problem(`has ${name}, which ${placeOf(owner)} has too; list one of them`)] : [];
  });
}

function placeOf({ config: { path, use, at } }: Owned): string {
  return `${path} "${use}" at line ${at.line}`;
}

/** Paths that the gateway answers whatever its formats are; an area by every method. */
const ownPages = ['/', '/health', '/metrics', '{/v1}/meta', '{/v1}/models{/:id}', '{/v1}/usage'];
const ownAreas = ['/admin{/*rest}', '/api/panel{/*rest}', '/panel{/*rest}', '/openapi.json'];

function ownPatterns(): readonly Pattern[] {
  return [
    ...ownPages.map((path) => patternOf('GET', path)),
    ...ownAreas.map((path) => patternOf('any', path)),
  ];
}

/** A path of a router. */
interface Pattern {
  readonly method: string;
  readonly path: string;
  readonly router: Router;
  /** The path with and without its optional parts. */
  readonly variants: readonly string[];
}

function patternOf(method: string, path: string): Pattern {
  const router = new Router();
  router.get(path, () => undefined);
  return { method, path, router, variants: variantsOf(path) };
}

function variantsOf(path: string): readonly string[] {
  const optional = /\{([^{}]*)\}/;
  if (!optional.test(path)) return [path];
  return ['$1', ''].flatMap((part) => variantsOf(path.replace(optional, part)));
}

/** True for two patterns of a method that some path matches both of. */
function overlap(one: Pattern, other: Pattern): boolean {
  if (one.method !== other.method) return false;
  const examples = one.variants.flatMap((ours) =>
    other.variants.flatMap((theirs) => [...filled(joined(ours, theirs)), ...filled(joined(theirs, ours))]),
  );
  return examples.some((path) => matches(one, path) && matches(other, path));
}

/** True for a pattern that takes paths of the gateway; not for `/:tenant/lines`, though `/admin/lines` is one. */
function takesOwn(one: Pattern, own: Pattern): boolean {
  if (one.method !== own.method && own.method !== 'any') return false;
  return (
    own.variants.flatMap(filled).some((path) => matches(one, path)) ||
    one.variants.flatMap(filled).some((path) => matches(own, path))
  );
}

function matches({ router }: Pattern, path: string): boolean {
  return router.match(path, 'GET').route;
}

/** A pattern with the other one's text for its parameters, where that has some. */
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

function unknownFormats({ when, ...stage }: StageConfig, names: readonly string[]): readonly ConfigProblem[] {
  return [
    ...unknownAmong(when?.format, ['when', 'format'], stage, names),
    ...unknownAmong(when?.not?.format, ['when', 'not', 'format'], stage, names),
  ];
}

function unknownAmong(
  formats: readonly string[] = [],
  place: readonly string[],
  { path, positionOf }: Pick<StageConfig, 'path' | 'positionOf'>,
  names: readonly string[],
): readonly ConfigProblem[] {
  return formats.flatMap((name, at) => {
    if (names.includes(name)) return [];
    const meant = didYouMean(name, names);
    const cure = meant ? `; did you mean "${meant}"?` : '';
    const known = names.map((known) => JSON.stringify(known)).join(', ');
    const message = `must be one of ${known}, not ${JSON.stringify(name)}${cure}`;
    return [{ at: positionOf([...place, at]), path: `${path}.${place.join('.')}[${at}]`, message }];
  });
}
