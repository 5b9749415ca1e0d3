// Module resolution hooks (node:module), loaded into their own thread or, if Node can, called in the main one.

import { ownSpecifier } from '../../../../kit/version.js';
import { PluginUrls } from './plugin-urls.js';

interface Context {
  readonly parentURL?: string | undefined;
  readonly conditions?: readonly string[] | undefined;
}

interface Resolved {
  readonly url: string;
}

type Next<Result> = (specifier: string, context: Context) => Result;

/** One way to resolve a specifier; the second is tried if the first finds nothing. */
type Route = readonly [specifier: string, context: Context];

/** `gw2api-package:<config's URL>#<package>`: a package resolved from the config's folder, else from ours. */
export const packageScheme = 'gw2api-package:';

/** Versions of the process's modules, as its module cache has them. */
const urls = new PluginUrls();

export async function resolve<Result extends Resolved>(
  specifier: string,
  context: Context,
  next: Next<Promise<Result>>,
): Promise<Result> {
  const [first, second] = routes(specifier, context);
  try {
    return versioned(await next(...first), context);
  } catch (error) {
    if (!second || !isNotFound(error)) throw error;
    return next(...second);
  }
}

export function resolveSync<Result extends Resolved>(
  specifier: string,
  context: Context,
  next: Next<Result>,
): Result {
  const [first, second] = routes(specifier, context);
  try {
    return versioned(next(...first), context);
  } catch (error) {
    if (!second || !isNotFound(error)) throw error;
    return next(...second);
  }
}

/**
 * Gives the modules that a plugin imports from its own folder the URL of their version; `require` has no versions.
 */
function versioned<Result extends Resolved>(resolved: Result, context: Context): Result {
  const { parentURL, conditions = [] } = context;
  if (parentURL === undefined || conditions.includes('require')) return resolved;
  const url = urls.imported(resolved.url, parentURL);
  return url === resolved.url ? resolved : { ...resolved, url };
}

/** Resolves a plugin's imports: the SDK of the running gateway, and its TypeBox if the plugin has none. */
function routes(specifier: string, context: Context): readonly [Route, Route?] {
  const fromHere: Context = { ...context, parentURL: import.meta.url };
  const own = ownSpecifier(specifier);
  if (own !== undefined) return [[own, fromHere]];
  if (/^typebox(\/|$)/.test(specifier))
    return [
      [specifier, context],
      [`#${specifier}`, fromHere],
    ];
  if (!specifier.startsWith(packageScheme)) return [[specifier, context]];
  const url = new URL(specifier.slice(packageScheme.length));
  const name = decodeURIComponent(url.hash.slice(1));
  return [
    [name, { ...context, parentURL: url.href }],
    [name, fromHere],
  ];
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
}
