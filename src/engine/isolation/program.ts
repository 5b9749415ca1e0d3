import { execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { IsolationConfig } from '../../config/config.js';
import { once } from '../../kit/once.js';
import { packageFile, programFile } from '../../kit/package-files.js';

/** Stage that runs in a child process: its file and what the config says about it. */
export interface IsolatedProgram {
  /** Absolute path of the plugin's module. */
  readonly file: string;
  /** The module, and the files of its folder that it imports. */
  readonly files: readonly string[];
  /** Folder of the config. */
  readonly baseDir: string;
  readonly settings: IsolationConfig;
}

/** Command of a child process. */
export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Command that runs a stage: Node with the permissions of the entry, within the sandbox that it names. */
export async function commandOf(program: IsolatedProgram, env: NodeJS.ProcessEnv): Promise<Command> {
  const { settings } = program;
  const heapMb = Math.max(minHeapMb, Math.floor(settings.memoryBytes / 2 ** 20));
  const node = [
    process.execPath,
    '--permission',
    ...readablePaths(program).map((name) => `--allow-fs-read=${name}`),
    `--max-old-space-size=${heapMb}`,
    '--no-warnings',
    programFile('engine/isolation/child/main.js'),
  ];
  const [command = process.execPath, ...args] = [...(await boundToParent()), ...settings.wrap, ...node];
  const given = settings.env.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]));
  return { command, args, env: Object.fromEntries(given) as Record<string, string> };
}

const minHeapMb = 16;

/**
 * Command that makes the kernel kill a process when its parent ends in any way, as a child in a loop does not see its
 * connection close; empty where util-linux is missing, as on macOS, or is that of BusyBox.
 */
const boundToParent = once(async (): Promise<readonly string[]> => {
  const [file, ...args] = ['/usr/bin/setpriv', '--pdeathsig', 'KILL', '--'] as const;
  try {
    await promisify(execFile)(file, [...args, process.execPath, '--version'], { env: {} });
    return [file, ...args];
  } catch {
    return []; // it is missing, or has no such option
  }
});

/** Files and folders that the child may read; a folder ends with a separator. */
function readablePaths({ file, files, baseDir, settings }: IsolatedProgram): readonly string[] {
  const packages = existing(['dist/', 'node_modules/'].map(packageFile));
  const own = [programFile(''), packageFile('package.json'), ...packages];
  const read = settings.read.map((name) => asFolder(path.resolve(baseDir, name)));
  const paths = [...own, ...pluginPaths(file, files, baseDir), ...read];
  return [...new Set(paths.flatMap((name) => [name, realPath(name)]))];
}

/**
 * The package of a plugin and the packages that it may import. Without a package of its own, its module and the files
 * that this imports: the folder may be that of the config, with its secrets.
 */
function pluginPaths(file: string, files: readonly string[], baseDir: string): readonly string[] {
  const packages = parentsOf(file).map((folder) => path.join(folder, 'node_modules', path.sep));
  const folder = parentsOf(file).find((parent) => existsSync(path.join(parent, 'package.json')));
  const isOwn = folder !== undefined && ![baseDir, process.cwd()].some((other) => contains(folder, other));
  const manifests = parentsOf(file).map((parent) => path.join(parent, 'package.json'));
  return [...(isOwn ? [asFolder(folder)] : files), ...existing([...packages, ...manifests])];
}

function existing(paths: readonly string[]): readonly string[] {
  return paths.filter((name) => existsSync(name));
}

/** Folders above a file, the nearest first. */
function parentsOf(file: string): readonly string[] {
  const folder = path.dirname(file);
  return folder === file ? [] : [folder, ...parentsOf(folder)];
}

function contains(folder: string, file: string): boolean {
  const relative = path.relative(folder, file);
  return relative.split(path.sep)[0] !== '..' && !path.isAbsolute(relative);
}

/** A folder with a separator at its end; a file, or a path that is not there, as it is. */
function asFolder(name: string): string {
  return existsSync(path.join(name, '.')) ? path.join(name, path.sep) : name;
}

function realPath(name: string): string {
  if (!existsSync(name)) return name;
  return name.endsWith(path.sep) ? path.join(realpathSync(name), path.sep) : realpathSync(name);
}
