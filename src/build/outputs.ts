import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of the repository; the steps of a build run from `build/build`. */
export const repository = fileURLToPath(new URL('../../', import.meta.url));

/**
 * True if an output, the last file that its step writes, is newer than all inputs. Folders are compared too, because
 * removing a file changes its folder's time.
 */
export async function isUpToDate(output: string, inputs: readonly string[]): Promise<boolean> {
  const madeMs = await timeOf(output);
  const changedMs = await Promise.all(inputs.map(timeOf));
  return Math.max(...changedMs) < madeMs;
}

/** A folder with its files and folders. */
export async function treeOf(folder: string): Promise<readonly string[]> {
  return [folder, ...(await readdir(folder, { recursive: true })).map((path) => join(folder, path))];
}

/** Time of the last write to a file in unix milliseconds; 0 if there is none. */
async function timeOf(file: string): Promise<number> {
  const info = await stat(file).catch(() => undefined);
  return info?.mtimeMs ?? 0;
}
