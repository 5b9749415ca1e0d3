import type { Position, ConfigProblem } from '../../../config/config.js';
import { explain } from '../../../config/checked.js';
import { writePath, type Path } from '../../../config/document.js';
import type { Plugin } from '../../../plugin/index.js';
import { compileCheck } from '../../../plugin/format/index.js';
import { definitionFault } from '../../../plugin/core.js';
import { within } from '../../../kit/time/within.js';
import { integrityFault } from './integrity/integrity-fault.js';
import { misspeltKeyword } from './schema-keywords.js';
import { builtinNames, importModule, type ResolveOptions } from './import/resolve.js';

/** The part of a definition that all kinds of plugins share. */
export interface Loadable {
  readonly name: string;
  /** JSON Schema of the options. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Level of the plugin API that it was written for. */
  readonly api?: Plugin['api'];
}

/** A kind of plugin: stage, format, upstream or account. */
export interface PluginKind<Definition extends Loadable> {
  /** Folder of the built-ins within `dist/plugins`; empty for stages. */
  readonly folder: string;
  /** A valid default export, in messages: `a plugin, or a function that returns a Koa middleware`. */
  readonly expected: string;
  /** The fields that identify a definition, in messages: `name and setup`. */
  readonly fields: string;
  /**
   * Definition from a default export; undefined for a value that is not of this kind. Throws an Error whose
   * message continues its name.
   */
  define(exported: unknown, use: string): Definition | undefined;
}

export interface Loading extends ResolveOptions {
  /** Time limit for a module to load; default 10 s. */
  readonly timeoutMs?: number;
}

/** A place in the config that names a plugin and has its options. */
export interface PluginEntry {
  /** A built-in name, a path relative to the config file, or an npm package. */
  readonly use: string;
  readonly with: Readonly<Record<string, unknown>>;
  /** Hash that its code must have; absent: any. */
  readonly integrity?: string;
  /** Paths of the name, the options and the hash within the entry; default `['use']`, `['with']` and `['integrity']`. */
  readonly usePath?: Path;
  readonly withPath?: Path;
  readonly integrityPath?: Path;
  /** Path of the entry: `pipeline[3]`. */
  readonly path: string;
  readonly positionOf: (path: Path) => Position;
  /** False for a value with a problem that is reported already; default true. */
  readonly isValid?: (path: Path) => boolean;
}

/** A plugin with its options, defaults filled in. */
export interface LoadedPlugin<Definition> {
  /** Undefined if it could not be loaded. */
  readonly plugin: Definition | undefined;
  readonly options: Readonly<Record<string, unknown>>;
  readonly problems: readonly ConfigProblem[];
}

/** Loads the plugin of an entry, by `load`, and checks its options. Returns config errors, never throws them. */
export async function loadEntry<Definition extends Loadable>(
  kind: PluginKind<Definition>,
  entry: PluginEntry,
  where: Loading,
  load: () => Promise<Definition> = () => loadPlugin(kind, entry.use, where),
): Promise<LoadedPlugin<Definition>> {
  const options = structuredClone(entry.with);
  const faults = await faultsOfCode(kind, entry, where);
  if (faults) return { plugin: undefined, options, problems: faults };
  try {
    const plugin = await load();
    return { plugin, options, problems: checkOptions(entry, plugin, options) };
  } catch (error) {
    return { plugin: undefined, options, problems: [useProblem(entry, wordsOf(error))] };
  }
}

/** Problems of an entry whose code has another hash, and whose module is not imported; undefined for any other. */
async function faultsOfCode(
  { folder }: PluginKind<Loadable>,
  entry: PluginEntry,
  where: Loading,
): Promise<readonly ConfigProblem[] | undefined> {
  const { use, integrity, integrityPath = ['integrity'] } = entry;
  if (integrity === undefined) return undefined;
  const { timeoutMs = pluginTimeoutMs } = where;
  const fault = await integrityFault({ use, integrity }, where, folder, timeoutMs);
  if (fault === undefined) return undefined;
  return (entry.isValid?.(integrityPath) ?? true) ? [problemAt(entry, integrityPath, fault)] : [];
}

/** Loads a plugin by its name in the config. Throws an Error whose message continues that name. */
export async function loadPlugin<Definition extends Loadable>(
  kind: PluginKind<Definition>,
  use: string,
  where: Loading,
): Promise<Definition> {
  const { timeoutMs = pluginTimeoutMs } = where;
  const late = `did not load within ${timeoutMs / 1000} s: a top-level await of its module does not settle`;
  const module = await within(importModule(use, where, kind.folder), timeoutMs, late);
  const exported = 'default' in module ? module.default : undefined;
  const definition = definedOnce(kind, exported, use) ?? definedOnce(kind, innerDefault(exported), use);
  if (definition) return definition;
  throw new Error(`must export default ${kind.expected}, but ${describe(module, kind.fields)}`);
}

/** Definitions by the export of a module, and by their names in the config. */
const definitions = new WeakMap<object, Map<string, unknown>>();

/** Reads an export once, so that its options schema is compiled once. */
function definedOnce<Definition extends Loadable>(
  kind: PluginKind<Definition>,
  exported: unknown,
  use: string,
): Definition | undefined {
  if (typeof exported !== 'object' || exported === null) return kind.define(exported, use); // a factory makes a new one each time
  const known = definitions.get(exported) ?? new Map<string, unknown>();
  definitions.set(exported, known);
  const name = `${kind.folder}:${use}`;
  const definition = known.get(name) ?? kind.define(exported, use);
  known.set(name, definition);
  return definition as Definition | undefined; // of this kind, whose folder the name begins with
}

/** Throws the fault of a definition with an unknown field or a misspelt keyword, or for another level of the plugin API. */
export function checkFields(
  definition: object & { readonly options?: unknown },
  form: Parameters<typeof definitionFault>[1],
): void {
  const fault = definitionFault(definition, form) ?? misspeltKeyword(definition.options, 'options');
  if (fault !== undefined) throw new Error(fault);
}

/** All built-ins of a kind that can be loaded. */
export async function loadBuiltins<Definition extends Loadable>(
  kind: PluginKind<Definition>,
  where: Loading,
): Promise<readonly Definition[]> {
  const names = await builtinNames(where.builtins, kind.folder);
  const loaded = await Promise.allSettled(names.map((name) => loadPlugin(kind, name, where)));
  return loaded.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

/** Inner default of CommonJS compiled from ES modules. */
function innerDefault(exported: unknown): unknown {
  return typeof exported === 'object' && exported !== null && 'default' in exported
    ? exported.default
    : undefined;
}

function describe(module: object, fields: string): string {
  const names = Object.keys(module);
  if (!('default' in module))
    return names.length > 0 ? `it has no default, only ${names.join(', ')}` : 'it exports nothing';
  const { default: exported } = module;
  if (typeof exported === 'function') return 'its default is a function';
  if (typeof exported !== 'object' || exported === null) return `its default is ${String(exported)}`;
  return `its default is an object with ${Object.keys(exported).join(', ') || 'nothing'} instead of ${fields}`;
}

const checks = new WeakMap<object, ReturnType<typeof compileCheck>>();

/** Compiled once for each schema: all slots of a kind have the same. */
function checkOf(schema: object): ReturnType<typeof compileCheck> {
  const known = checks.get(schema) ?? compileCheck(schema, { useDefaults: true });
  checks.set(schema, known);
  return known;
}

/** The options of an entry without any, as far as they have defaults. Throws for an invalid schema. */
export function defaultsOf({ options: schema }: Loadable): LoadedPlugin<Loadable>['options'] {
  const defaults: Record<string, unknown> = {};
  checkOf(schema)(defaults);
  return defaults;
}

/** Fills the schema's defaults into `options`. */
function checkOptions(entry: PluginEntry, plugin: Loadable, options: unknown): readonly ConfigProblem[] {
  const { withPath = ['with'] } = entry;
  try {
    const errors = checkOf(plugin.options)(options);
    return errors
      .filter(({ path, isUnknownKey }) => isUnknownKey || (entry.isValid?.([...withPath, ...path]) ?? true))
      .map((error) => problemAt(entry, [...withPath, ...error.path], explain(error, entry.with)));
  } catch (error) {
    return [useProblem(entry, `has options that are not a JSON Schema: ${wordsOf(error)}`)];
  }
}

function useProblem(entry: PluginEntry, message: string): ConfigProblem {
  return { ...problemAt(entry, entry.usePath ?? ['use'], message), subject: entry.use };
}

function problemAt(entry: PluginEntry, path: Path, message: string): ConfigProblem {
  const place = path.length > 0 ? `${entry.path}.${writePath(path)}` : entry.path;
  return { at: entry.positionOf(path), path: place, message };
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Time limit for a plugin to load, to set up, to start, and to dispose. */
export const pluginTimeoutMs = 10_000;
