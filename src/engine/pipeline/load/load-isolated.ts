import { realpath } from 'node:fs/promises';
import module from 'node:module';
import path from 'node:path';
import type { ConfigProblem, IsolationConfig, StageConfig } from '../../../config/config.js';
import { within } from '../../../kit/time/within.js';
import type { StateKey } from '../../../plugin/core.js';
import type { Plugin } from '../../../plugin/index.js';
import { IsolatedStage } from '../../isolation/isolated-stage.js';
import { pluginPlace } from '../../trace/plugin-place.js';
import { loadEntry, pluginTimeoutMs, type LoadedPlugin, type Loading } from './load-plugin.js';
import { PluginFiles } from './import/plugin-files.js';
import { moduleFile } from './import/resolve.js';
import { stageKind } from './stage-kind.js';

interface LoadedIsolated extends LoadedPlugin<Plugin> {
  readonly isolated: IsolatedStage | undefined;
}

/** Loads the plugin of an entry in a child process, which alone imports it. Returns config errors, never throws them. */
export async function loadIsolated(
  config: StageConfig,
  isolation: IsolationConfig,
  where: Loading,
): Promise<LoadedIsolated> {
  const fault = unsupported();
  if (fault !== undefined) {
    const at = config.positionOf(['isolate']);
    const problem: ConfigProblem = { at, path: `${config.path}.isolate`, message: fault };
    return { plugin: undefined, options: config.with, problems: [problem], isolated: undefined };
  }
  let isolated: IsolatedStage | undefined;
  const loaded = await loadEntry(stageKind, config, where, async () => {
    isolated = await startStage(config.use, isolation, where);
    return definitionOf(isolated, config.use);
  });
  const { plugin, options, problems } = loaded;
  if (!plugin || !isolated || problems.length > 0 || typeof plugin.keepsPrefix !== 'function')
    return { ...loaded, isolated };
  const keepsPrefix = await isolated.keepsPrefix(options);
  const { keepsPrefix: _, ...rest } = plugin;
  return { ...loaded, plugin: keepsPrefix ? rest : { ...rest, keepsPrefix }, isolated };
}

/** Definition of a plugin from a child process. Throws an Error whose message continues its name. */
export async function loadIsolatedPlugin(
  use: string,
  isolation: IsolationConfig,
  where: Loading,
): Promise<Plugin> {
  const fault = unsupported();
  if (fault !== undefined) throw new Error(`cannot be isolated: isolate ${fault}`);
  return definitionOf(await startStage(use, isolation, where), use);
}

/** Undefined if the running Node has what child processes of stages need. */
function unsupported(): string | undefined {
  if ('registerHooks' in module && process.allowedNodeEnvironmentFlags.has('--permission')) return undefined;
  return `needs Node 22.15 or later, and this is Node ${process.versions.node}; update Node, or remove "isolate"`;
}

async function startStage(use: string, settings: IsolationConfig, where: Loading): Promise<IsolatedStage> {
  const { timeoutMs = pluginTimeoutMs, baseDir } = where;
  const file = await realpath(await moduleFile(use, where)).catch(() => undefined);
  if (file === undefined)
    throw new Error('is not there; paths are relative to the folder of the config file');
  const files = new PluginFiles().list(file, path.dirname(file));
  const late = `did not load within ${timeoutMs / 1000} s: a top-level await of its module does not settle`;
  try {
    return await within(IsolatedStage.load({ file, files, baseDir, settings }), timeoutMs, late);
  } catch (error) {
    const place = pluginPlace(error);
    if (place === undefined || !(error instanceof Error)) throw error;
    const relative = path.relative(baseDir, place);
    const shown = relative.startsWith('..') ? place : relative;
    throw new Error(`${error.message} (${shown})`, { cause: error });
  }
}

/** The definition, whose functions the child process keeps. Throws an Error for one that cannot be isolated. */
function definitionOf({ definition: { fields, functions } }: IsolatedStage, use: string): Plugin {
  const kept = functions.map((name) => [name, () => true] as const);
  const plugin = stageKind.define({ ...fields, ...Object.fromEntries(kept) }, use);
  if (!plugin) throw new Error('must export default a plugin with name and setup');
  for (const [list, keys] of [
    ['requires', plugin.requires],
    ['reads', plugin.reads ?? []],
    ['provides', plugin.provides],
  ] as const) {
    const key = keys.find((name) => !isJson(name, list, plugin));
    if (key !== undefined)
      throw new Error(`${list} "${key}", which is not JSON and stays in the gateway; it cannot be isolated`);
  }
  return plugin;
}

function isJson(key: StateKey, list: string, { intercepts }: Plugin): boolean {
  if (key === 'interceptors') return list === 'provides' && intercepts;
  return !inGateway.has(key);
}

/** Keys whose values have functions or an identity; those of a stage's own are checked as they are set. */
const inGateway: ReadonlySet<StateKey> = new Set([
  'additions',
  'picker',
  'response',
  'signal',
  'log',
  'onSettled',
  'trace',
]);
