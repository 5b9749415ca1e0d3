import type { CoreMiddleware } from './exchange.js';
import { routesAt } from './route-table.js';
import type { Routes } from './routes.js';

/**
 * Serves the alternative paths in configurations of clients. They lead only to the routes of formats, of the models and
 * of the health, since a proxy may block others by their prefix.
 */
export function answerAliases(routes: Routes, aliases: readonly string[]): CoreMiddleware {
  const targetOf = aliasTargets(aliases, modelPaths(routes));
  return async (ctx, next) => {
    const target = targetOf(ctx.path);
    if (!target || !isDoor(routes, target.path)) return next();
    ctx.path = target.path;
    if (target.query !== undefined) ctx.querystring = target.query;
    if (target.model !== undefined) ctx.state.pathModel = target.model;
    return routes.middleware(ctx, next);
  };
}

/** Paths of model calls whose body is rewritten, with `/v1`. */
function modelPaths({ doors }: Routes): readonly string[] {
  return [...doors].flatMap(([path, format]) => {
    const takesModel = path.startsWith('{/v1}/') && !path.includes(':') && format?.keepsBytes === false;
    return takesModel ? [path.replace('{/v1}', '/v1')] : [];
  });
}

/** True for a path whose routes aliases may all lead to. */
function isDoor({ tables, doors }: Routes, path: string): boolean {
  const routes = routesAt(tables, path);
  return routes.length > 0 && routes.every((route) => doors.has(route.path));
}

/** The path of a route that an alias stands for. */
interface AliasTarget {
  readonly path: string;
  readonly query?: string;
  /** Model that the path names. */
  readonly model?: string;
}

type FindTarget = (path: string) => AliasTarget | undefined;

/**
 * Finds the path that an alias stands for; undefined for other paths. `aliases` are as `listen.aliases` lists them;
 * `modelPaths` are those whose model a deployment may name, with their `/v1`.
 */
export function aliasTargets(aliases: readonly string[], modelPaths: readonly string[]): FindTarget {
  const known = new Set(aliases);
  const prefixes = aliases.filter((alias) => !specialAliases.has(alias)).toSorted(longestFirst);
  const endings = modelPaths.toSorted(longestFirst);
  return (path) => {
    const merged = known.has(slashes) ? withSingleSlashes(path) : path;
    const probe = probes.get(merged);
    if (probe && known.has(merged)) return probe;
    const deployment = known.has(deployments) ? deploymentTarget(merged, endings) : undefined;
    if (deployment) return deployment;
    const short = withoutPrefix(merged, prefixes);
    const target = known.has(repeatedVersion) ? withOneVersion(short) : short;
    return target === path ? undefined : { path: target };
  };
}

const slashes = '//';
const repeatedVersion = '/v1/v1';
const deployments = '/openai/deployments';

const probes: ReadonlyMap<string, AliasTarget> = new Map([
  ['/healthz', { path: '/health' }],
  ['/health/liveliness', { path: '/health' }],
  ['/readyz', { path: '/health', query: 'ready=1' }],
  ['/health/readiness', { path: '/health', query: 'ready=1' }],
]);

/** All that are not a prefix. */
const specialAliases: ReadonlySet<string> = new Set([
  slashes,
  repeatedVersion,
  deployments,
  ...probes.keys(),
]);

function longestFirst(a: string, b: string): number {
  return b.length - a.length;
}

function withSingleSlashes(path: string): string {
  return path.replaceAll(/\/+/g, '/');
}

/** The path below a prefix; one that ends with `/v1` keeps that. */
function withoutPrefix(path: string, prefixes: readonly string[]): string {
  const prefix = prefixes.find((each) => path === each || path.startsWith(`${each}/`));
  if (prefix === undefined) return path;
  const end = prefix.endsWith('/v1') ? prefix.length - '/v1'.length : prefix.length;
  return path.slice(end) || '/';
}

function withOneVersion(path: string): string {
  let at = 0;
  while (path.startsWith('/v1/v1/', at)) at += '/v1'.length;
  return path.slice(at);
}

/** Path of a deployment of Azure OpenAI, whose name may have slashes: `/openai/deployments/NAME/chat/completions`. */
function deploymentTarget(path: string, endings: readonly string[]): AliasTarget | undefined {
  const rest = /^\/openai(?:\/v1)?\/deployments(\/.+)$/s.exec(path)?.[1]?.replace(/\/$/, '');
  if (rest === undefined) return undefined;
  for (const target of endings) {
    const ending = target.slice('/v1'.length);
    const model = rest.endsWith(ending) ? decoded(rest.slice(1, -ending.length)) : undefined;
    if (model) return { path: target, model };
  }
  return undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined; // a percent sign that encodes nothing
  }
}
