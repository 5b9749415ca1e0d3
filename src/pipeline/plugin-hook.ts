/** Module resolution hooks (node:module), loaded into their own thread or, where Node can, called in ours. */

interface Context {
  readonly parentURL?: string | undefined;
}

type Next<Result> = (specifier: string, context: Context) => Result;

/** One way to resolve a specifier; the second is tried where the first finds nothing. */
type Route = readonly [specifier: string, context: Context];

/** `gw2api-package:<config's URL>#<package>`: the package as the config file's folder sees it, else as we do. */
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

/** A plugin gets the SDK of the gateway that runs it, and its TypeBox where it has none of its own. */
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
