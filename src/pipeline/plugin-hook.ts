/** Module resolution hooks (node:module), loaded into their own thread or, where Node can, called in ours. */

interface Context {
  readonly parentURL?: string | undefined;
}

type Next<Result> = (specifier: string, context: Context) => Result;

/** One way to resolve a specifier; the second is tried where the first finds nothing. */
type Route = readonly [specifier: string, context: Context];

/** `gw2api-package:<config's URL>#<package>`: a package resolved from the config's folder, else from ours. */
export const packageScheme = 'gw2api-package:';

export async function resolve<Result>(
  specifier: string,
  context: Context,
  next: Next<Promise<Result>>,
): Promise<Result> {
  const [first, second] = routes(specifier, context);
  try {
    return await next(...first);
  } catch (error) {
    if (!second || !isNotFound(error)) throw error;
    return next(...second);
  }
}

export function resolveSync<Result>(specifier: string, context: Context, next: Next<Result>): Result {
  const [first, second] = routes(specifier, context);
  try {
    return next(...first);
  } catch (error) {
    if (!second || !isNotFound(error)) throw error;
    return next(...second);
  }
}

/** Resolves a plugin's imports: the SDK of the running gateway, and its TypeBox if the plugin has none. */
function routes(specifier: string, context: Context): readonly [Route, Route?] {
  const fromHere: Context = { ...context, parentURL: import.meta.url };
  if (specifier === 'gw2api' || specifier.startsWith('gw2api/')) return [[specifier, fromHere]];
  if (/^typebox(\/|$)/.test(specifier))
    return [
      [specifier, context],
      [specifier, fromHere],
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
