import module from 'node:module';
import { programUrl, packageUrl } from '../../../kit/package-files.js';
import { ownSpecifier, packageName } from '../../../kit/version.js';

interface Context {
  readonly parentURL?: string | undefined;
}

interface Resolved {
  readonly url: string;
}

type Resolve = (specifier: string, context: Context, next: Next) => Resolved;
type Next = (specifier: string, context: Context) => Resolved;

/** Members missing in the types of Node 20. */
interface Hooks {
  readonly registerHooks: (hooks: { resolve: Resolve }) => void;
}

/** Built-in modules that reach neither the network, nor other processes, nor the loader of modules. */
const allowed: ReadonlySet<string> = new Set([
  'assert',
  'assert/strict',
  'buffer',
  'constants',
  'crypto',
  'events',
  'fs',
  'fs/promises',
  'path',
  'path/posix',
  'path/win32',
  'perf_hooks',
  'process',
  'punycode',
  'querystring',
  'stream',
  'stream/consumers',
  'stream/promises',
  'stream/web',
  'string_decoder',
  'timers',
  'timers/promises',
  'url',
  'util',
  'util/types',
  'zlib',
]);

/** Further built-in modules for modules of the gateway; its clients need others, and cannot be loaded. */
const ours: ReadonlySet<string> = new Set(['async_hooks', 'diagnostics_channel', 'module', 'os']);

/** Lets plugins import the public modules of this package, and refuses the other built-in modules. */
export function installModuleHooks(): void {
  const { registerHooks } = module as unknown as Hooks; // Node 22.15 and later, which alone runs child processes
  registerHooks({ resolve });
  const members = module as unknown as Record<string, unknown>; // its members are looked up by name
  // CommonJS reaches this object as `module.constructor`.
  for (const name of ['registerHooks', 'register', 'syncBuiltinESMExports', 'enableCompileCache'])
    Reflect.deleteProperty(members, name);
}

const fromHere = { parentURL: import.meta.url };

const resolve: Resolve = (specifier, context, next) => {
  const own = ownSpecifier(specifier);
  if (own !== undefined) {
    requireDoor(own, context);
    return next(own, { ...context, ...fromHere });
  }
  const resolved = resolveTypebox(specifier, context, next) ?? next(specifier, context);
  if (resolved.url.startsWith('node:')) requireAllowed(resolved.url.slice('node:'.length), context);
  return resolved;
};

/** The plugin's own TypeBox, else that of the gateway; undefined for other specifiers. */
function resolveTypebox(specifier: string, context: Context, next: Next): Resolved | undefined {
  if (!/^typebox(\/|$)/.test(specifier)) return undefined;
  try {
    return next(specifier, context);
  } catch {
    return next(`#${specifier}`, { ...context, ...fromHere });
  }
}

function requireDoor(own: string, context: Context): void {
  if (own !== `${packageName}/plugin/raw` || isOurs(context)) return;
  throw new Error(
    `imports "${own}", which is for stages within the gateway: requests and events of an isolated stage are copies, without their bytes`,
  );
}

function requireAllowed(name: string, context: Context): void {
  if (allowed.has(name) || (ours.has(name) && isOurs(context))) return;
  throw new Error(`imports "${name}", which is not available to an isolated stage`);
}

/** True for a module of the gateway itself, or of the packages that it brings. */
function isOurs({ parentURL = '' }: Context): boolean {
  const isBuiltinStage = parentURL.startsWith(programUrl('plugins/').href);
  return !isBuiltinStage && folders.some((folder) => parentURL.startsWith(folder));
}

const program = programUrl('').href;

/** The bundle has the packages within; sources that are compiled alone find them beside. */
const folders = program.endsWith('/dist/') ? [program] : [program, packageUrl('node_modules/').href];
