import { join } from 'node:path';
import type { ModuleInfo } from 'rolldown';
import { loadedByPath, publicModules } from './entries.js';
import { repository } from './outputs.js';

interface Modules {
  getModuleInfo(id: string): ModuleInfo | null;
}

/** The module that every gateway is opened by, in a server or by a command. */
const opener = join(repository, 'src/features/open.ts');
const pluginFolder = join(repository, 'src/plugin/');
const commandTable = join(repository, 'src/cli/commands.ts');

/** Modules of a thread that is to stay small. */
const fewModules = 100;

/**
 * Names the chunk of a module that every gateway loads: a file costs much to find and to link. What plugins load, or
 * a command that opens none, has chunks of its own; what a small thread loads is left to rolldown, as all else is.
 */
export async function chunkNames(): Promise<(id: string, modules: Modules) => string | null> {
  const scripts = await loadedByPath();
  let sets: Sets | undefined;
  return (id, modules) => {
    sets ??= setsIn(modules, scripts);
    const { gateway, threads, commands, plugins } = sets;
    if (!gateway.has(id) || threads.has(id)) return null;
    return `gateway${commands.has(id) ? '-commands' : ''}${plugins.has(id) ? '-plugins' : ''}`;
  };
}

type Sets = Readonly<Record<'gateway' | 'threads' | 'commands' | 'plugins', ReadonlySet<string>>>;

function setsIn(modules: Modules, scripts: readonly string[]): Sets {
  const setOf = (importer: string) => loadedWith(importer, modules);
  const { dynamicallyImportedIds: commands = [] } = modules.getModuleInfo(commandTable) ?? {};
  const pluginModules = Object.values(publicModules()).filter((file) => file.startsWith(pluginFolder));
  return {
    gateway: setOf(opener),
    threads: union(scripts.map(setOf).filter(({ size }) => size < fewModules)),
    commands: union(commands.map(setOf).filter((loaded) => !loaded.has(opener))),
    plugins: union(pluginModules.map(setOf)),
  };
}

function union(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  return new Set(sets.flatMap((set) => [...set]));
}

/** A module and all that it imports, save for what it imports later. */
function loadedWith(importer: string, modules: Modules): ReadonlySet<string> {
  const found = new Set([importer]);
  for (const id of found)
    for (const imported of modules.getModuleInfo(id)?.importedIds ?? []) found.add(imported);
  return found;
}
