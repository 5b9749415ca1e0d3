import type Koa from 'koa';
import { normalizePlugin, type Plugin } from '../plugin/index.js';
import { operations } from '../config/schema.js';

type Factory = (options: unknown) => unknown;

/**
 * Plugin from a module: the result of `definePlugin` or a similar object, or a factory of Koa middleware that
 * all requests pass. Throws an Error whose message continues its name.
 */
export function asPlugin(module: object, use: string): Plugin {
  const exported = defaultExport(module);
  if (typeof exported === 'function') return fromFactory(exported as Factory, use); // any function can be called
  if (isDefinition(exported)) return fromDefinition(exported);
  throw new Error(
    `must export default a plugin or a function that makes a Koa middleware, but ${describe(module)}`,
  );
}

/** CommonJS compiled from ES modules has its default within the default. */
function defaultExport(module: object): unknown {
  const outer = 'default' in module ? module.default : undefined;
  const isWrapped = typeof outer === 'object' && outer !== null && 'default' in outer && !isDefinition(outer);
  return isWrapped ? outer.default : outer;
}

type Definition = object & { readonly name: string; readonly setup: unknown };

function isDefinition(value: unknown): value is Definition {
  if (typeof value !== 'object' || value === null) return false;
  return (
    'name' in value && typeof value.name === 'string' && 'setup' in value && typeof value.setup === 'function'
  );
}

function fromDefinition(definition: Definition): Plugin {
  const plugin = normalizePlugin(definition);
  for (const key of ['requires', 'provides', 'seals', 'operations'] as const)
    if (!isTexts(plugin[key])) throw new Error(`has ${key} that are no list of names`);
  const stranger = plugin.operations.find((operation) => !operations.includes(operation));
  if (stranger) throw new Error(`has operations with "${stranger}"; there are ${operations.join(', ')}`);
  return plugin;
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function fromFactory(factory: Factory, use: string): Plugin {
  return {
    name: use,
    requires: [],
    provides: [],
    seals: [],
    operations,
    options: { type: 'object' },
    setup: async (options: unknown) => (await make(factory, options)) as Koa.Middleware, // checked where it is set up
  };
}

/**
 * Calls a factory. Adds the expected shape to its error, for an author who exported the middleware itself.
 */
async function make(factory: Factory, options: unknown): Promise<unknown> {
  try {
    const made = await factory(options);
    if (made !== undefined) return made;
  } catch (error) {
    if (factory.length < 2) throw error;
    throw new Error(`${error instanceof Error ? error.message : String(error)}; ${shape}`, { cause: error });
  }
  throw new Error(shape);
}

const shape =
  'the default export is called with its options and must return the middleware: export default () => async (ctx, next) => …';

function describe(module: object): string {
  const names = Object.keys(module);
  if (!('default' in module))
    return names.length > 0 ? `it has no default, only ${names.join(', ')}` : 'it exports nothing';
  const { default: exported } = module;
  if (typeof exported !== 'object' || exported === null) return `its default is ${String(exported)}`;
  return `its default is an object with ${Object.keys(exported).join(', ') || 'nothing'} and not with name and setup`;
}
