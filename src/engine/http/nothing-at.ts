import type { Format } from '../../plugin/index.js';
import type { CoreContext } from './exchange.js';
import type { Routes } from './routes.js';

type Doors = Routes['doors'];

/**
 * Sentence of a 404. For a path that ends with that of a route it names the served path, and the base URL to set in the
 * client; `basePath` is the base path of the gateway.
 */
export function nothingAt(ctx: CoreContext, doors: Doors, basePath: string): string {
  const nothing = `There is nothing at ${ctx.path}.`;
  const known = knownEnding(ctx.path, doors);
  if (!known) return nothing;
  const base = baseUrls(originOf(ctx) + basePath, ctx.path, known);
  return `${nothing} This gateway serves ${known.path}: set the base URL of the client to ${base}.`;
}

interface Known {
  /** The path as it is served, with `/v1`. */
  readonly path: string;
  readonly format: Format | undefined;
}

/** The longest path of a route, with or without `/v1`, that a path ends with. */
function knownEnding(path: string, doors: Doors): Known | undefined {
  const asked = path.replace(/\/$/, '').toLowerCase();
  let found: (Known & { readonly length: number }) | undefined;
  for (const [template, format] of doors) {
    if (template === '/' || /[:*]/.test(template)) continue;
    const ending = template.replace('{/v1}', '');
    if (!asked.endsWith(ending) || ending.length <= (found?.length ?? 0)) continue;
    found = { path: template.replace('{/v1}', '/v1'), format, length: ending.length };
  }
  return found;
}

/** Base URLs by which clients find a path: those for Messages put `/v1` behind theirs, most others do not. */
function baseUrls(origin: string, asked: string, { path, format }: Known): string {
  if (!path.startsWith('/v1/')) return origin;
  const appendsVersion = asked.toLowerCase().replace(/\/$/, '').endsWith(path);
  if (format?.name === 'messages') return appendsVersion ? origin : `${origin}/v1`;
  if (format) return `${origin}/v1`;
  return `${origin}/v1, or to ${origin} for a client that adds /v1 itself`;
}

/** Origin by which the caller reaches the gateway, unless its host header is not a host. */
function originOf(ctx: CoreContext): string {
  const { host } = ctx;
  return /^[\w.:[\]-]{1,255}$/.test(host) ? `${ctx.protocol}://${host}` : 'http://GATEWAY';
}
