import path from 'node:path';
import type { Environment } from '../config/environment.js';
import { readConfig, readConfigFile } from '../config/load.js';
import { otherFile } from '../gateway/load-config.js';
import { align } from '../engine/pipeline/run/describe.js';
import { installedPlugins } from '../engine/pipeline/load/installed-plugins.js';
import { listPlugins } from '../engine/pipeline/load/listed-plugins.js';
import { builtinFolder } from '../engine/pipeline/load/import/resolve.js';

export interface PluginsReport {
  readonly text: string;
  /** 1 if a plugin could not be loaded. */
  readonly exitCode: 0 | 1;
}

/**
 * Lists the installed packages that bring plugins, and the plugins that a config loads, even if it has other problems.
 * Throws a ConfigError if the config cannot be read.
 */
export async function plugins(file: string, env: Environment, isJson: boolean): Promise<PluginsReport> {
  const config = readConfig(await readConfigFile(file, env, otherFile));
  const { baseDir } = config;
  const installed = await installedPlugins(baseDir);
  const listed = await listPlugins(config, { baseDir, builtins: builtinFolder });
  const loaded = listed.map(({ options: _, ...plugin }) => plugin);
  const exitCode = loaded.some(({ problem }) => problem !== undefined) ? 1 : 0;
  if (isJson) return { text: `${JSON.stringify({ config: file, installed, loaded }, null, 2)}\n`, exitCode };
  const text = [
    'installed packages (keyword gw2api-plugin, peer gw2api)',
    ...align(installed.map((one) => [one.name, one.version, `gw2api ${one.peer}`, place(one.folder)])),
    ...(installed.length === 0 ? ['  none'] : []),
    '',
    `loaded by ${file}`,
    ...align([
      ['kind', 'use', 'name', 'version', 'api', 'file'],
      ...loaded.map(({ kind, use, name, version = '-', api, file, problem }) =>
        problem === undefined
          ? [kind, use, name, version, String(api ?? '-'), place(file ?? '')]
          : [kind, use, '-', '-', '-', `FAILED: ${problem}`],
      ),
    ]),
    '',
  ].join('\n');
  return { text, exitCode };
}

/** A path relative to the working directory, if that is shorter. */
function place(name: string): string {
  const relative = path.relative(process.cwd(), name);
  return relative.length < name.length ? relative : name;
}
