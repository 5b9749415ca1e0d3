import { readdir } from 'node:fs/promises';
import type { Plugin } from '#src/plugin/index.js';

/** Folders of plugins of other kinds, and that of shared modules. */
const others = /^(?:accounts|formats|shared|upstreams)\//;

/** Modules of the built-in stages by their names: `NAME`, or `NAME/index`. */
export async function builtinStages(): Promise<ReadonlyMap<string, string>> {
  const files = await readdir('plugins', { recursive: true });
  const modules = files
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !others.test(file) && /^[\w-]+(?:\/index)?\.ts$/.test(file))
    .map((file) => file.slice(0, -'.ts'.length));
  return new Map(modules.map((file) => [file.replace(/\/index$/, ''), file] as const));
}

export async function loadStage(module: string): Promise<Plugin> {
  const { default: plugin } = (await import(`#plugins/${module}.js`)) as { default: Plugin };
  return plugin;
}
