import { stageForm } from '../../../plugin/core.js';
import type { Plugin } from '../../../plugin/index.js';
import { operations } from '../../../config/stage-schema.js';
import { checkFields, type PluginKind } from './load-plugin.js';

/**
 * Stages: the result of `definePlugin` or a similar object, or a factory of Koa middleware that all requests
 * pass.
 */
export const stageKind: PluginKind<Plugin> = {
  folder: '',
  expected: 'a plugin, or a function that returns a Koa middleware',
  fields: 'name and setup',
  define(exported, use) {
    if (typeof exported === 'function') return fromFactory(exported as Factory, use); // any function can be called
    return isDefinition(exported) ? fromDefinition(exported) : undefined;
  },
};

type Factory = (options: unknown) => unknown;

type Definition = object & { readonly name: string; readonly setup: unknown };

function isDefinition(value: unknown): value is Definition {
  if (typeof value !== 'object' || value === null) return false;
  return (
    'name' in value && typeof value.name === 'string' && 'setup' in value && typeof value.setup === 'function'
  );
}

function fromDefinition(definition: Definition): Plugin {
  checkFields(definition, stageForm);
  const plugin = stageForm.normalize(definition);
  for (const key of ['requires', 'reads', 'provides', 'seals', 'operations'] as const)
    if (!isTexts(plugin[key] ?? [])) throw new Error(`has ${key} that are not a list of names`);
  const { intercepts, operations: own } = plugin;
  if (typeof intercepts !== 'boolean')
    throw new Error(`has intercepts: ${String(intercepts)}; set it to true, or omit it`);
  if (intercepts && !own.includes('generate'))
    throw new Error('intercepts calls of the model, but generate is not among its operations');
  if (!intercepts && plugin.provides.includes('interceptors'))
    throw new Error('provides "interceptors"; instead, set intercepts: true and let setup return intercept');
  const stranger = plugin.operations.find((operation) => !operations.includes(operation));
  if (stranger) throw new Error(`has the unknown operation "${stranger}"; known: ${operations.join(', ')}`);
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
    intercepts: false,
    operations,
    options: { type: 'object' },
    isPlain: true,
    setup: (options: unknown) => make(factory, options),
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
