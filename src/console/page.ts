import type { ParameterizedContext } from 'koa';
import { packageFile } from '../kit/package-files.js';
import { GatewayError } from '../plugin/index.js';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';

type PageContext = ParameterizedContext<object, object>;

/**
 * Serves the built page at `/panel`, also for every path below it that is not an asset, as the page does its own
 * routing. `basePath` is the gateway's current base path: `/llm`.
 */
export function createPage(folder = pathToFileURL(packageFile('dist/console/web/')), basePath = () => '') {
  let files: PageFiles | undefined;
  const pageBelow = pagesBelow();
  return async function page(ctx: PageContext, next: () => Promise<void>): Promise<void> {
    const [, path] = /^\/panel(?:\/(.*))?$/s.exec(ctx.path) ?? [undefined, null];
    if (path === null) return next();
    requireRead(ctx);
    files ??= await readPage(folder);
    ctx.set(securityHeaders);
    if (!files) return explainBuild(ctx);
    const file = path?.startsWith('assets/')
      ? files.get(path)
      : await pageBelow(basePath(), files.get('index.html'));
    if (!file) throw new GatewayError('not_found', `There is nothing at ${ctx.path}.`);
    answer(ctx, file);
  };
}

/** Makes the page for the base path of the gateway, and caches the last one; its assets import each other by relative paths. */
function pagesBelow() {
  let made: { readonly basePath: string; readonly page: Promise<PageFile> } | undefined;
  return (basePath: string, built: PageFile | undefined): PageFile | Promise<PageFile> | undefined => {
    if (basePath === '' || !built) return built;
    if (made?.basePath !== basePath) made = { basePath, page: withLinksBelow(basePath, built) };
    return made.page;
  };
}

/** The page with its links below a path: the security policy allows no `<base>` for it. */
async function withLinksBelow(basePath: string, { bodies, ...file }: PageFile): Promise<PageFile> {
  const html = String(bodies['identity']).replaceAll(/\b(href|src)="\//g, `$1="${basePath}/`);
  const identity = Buffer.from(html);
  const [br, gzipped] = await Promise.all([promisify(brotliCompress)(identity), promisify(gzip)(identity)]);
  return { ...file, bodies: { br, gzip: gzipped, identity }, tag: tagOf(identity) };
}

function requireRead(ctx: PageContext): void {
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return;
  const message = `${ctx.path} does not accept ${ctx.method}; it takes GET, HEAD.`;
  throw new GatewayError('method_not_allowed', message, { headers: { allow: 'GET, HEAD' } });
}

function answer(ctx: PageContext, { type, isHashed, bodies, tag }: PageFile): void {
  const accepted = ctx.acceptsEncodings();
  const encoding = Object.keys(bodies).find((each) => accepted.includes(each)) ?? 'identity';
  ctx.set('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
  ctx.set('vary', 'accept-encoding');
  ctx.set('etag', `"${tag}-${encoding}"`);
  ctx.status = 200; // set before `fresh`, which reads it
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  if (encoding !== 'identity') ctx.set('content-encoding', encoding);
  ctx.type = type;
  ctx.body = bodies[encoding] ?? bodies['identity'];
}

/** Security headers: nothing from other origins, no inline script or style, no framing. */
const securityHeaders = {
  'content-security-policy':
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

/** Answers 503 if the page has not been built, as in a clone that was only compiled. */
function explainBuild(ctx: PageContext): void {
  ctx.status = 503;
  ctx.set('retry-after', '1');
  ctx.set('cache-control', 'no-store');
  ctx.type = 'html';
  ctx.body = `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width">
  <title>The console is not built</title>
  <h1>The console is not built</h1>
  <p>The gateway runs, but the files of this page are missing. Build them with</p>
  <pre>npm ci &amp;&amp; npm run build</pre>
  <p>and load this page again; the gateway need not be restarted.</p>
</html>
`;
}

/** One file of the built page, held in memory. */
interface PageFile {
  /** Content type, or the file extension that implies it. */
  readonly type: string;
  /** True if the name contains a hash of the content, so that browsers may cache the file without limit. */
  readonly isHashed: boolean;
  /** Contents by content encoding: `identity`, and the compressed ones that the build has made. */
  readonly bodies: Readonly<Record<string, Buffer>>;
  /** Shortened hex SHA-256 of the content. */
  readonly tag: string;
}

/** Files of the page by path below `/panel/`. */
type PageFiles = ReadonlyMap<string, PageFile>;

/** All files of the page; undefined if it has not been built. */
async function readPage(folder: URL): Promise<PageFiles | undefined> {
  const paths = await list(folder);
  if (!paths.includes('index.html')) return undefined;
  const plain = paths.filter((path) => !/\.(br|gz)$/.test(path));
  const files = plain.map(async (path) => [path, await readPageFile(folder, path, paths)] as const);
  return new Map(await Promise.all(files));
}

async function list(folder: URL): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return entries.filter((path) => extname(path) !== '').map((path) => path.replaceAll('\\', '/'));
}

async function readPageFile(folder: URL, path: string, paths: readonly string[]): Promise<PageFile> {
  const read = (name: string) => readFile(new URL(name, folder));
  const identity = await read(path);
  const bodies: Record<string, Buffer> = {};
  // Smallest encoding first: the first one that the browser accepts is sent.
  if (paths.includes(`${path}.br`)) bodies['br'] = await read(`${path}.br`);
  if (paths.includes(`${path}.gz`)) bodies['gzip'] = await read(`${path}.gz`);
  bodies['identity'] = identity;
  return { type: extname(path), isHashed: path.startsWith('assets/'), bodies, tag: tagOf(identity) };
}

function tagOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 20);
}
