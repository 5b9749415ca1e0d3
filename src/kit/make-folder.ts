import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';

/**
 * Makes a folder and those above it. Throws the error of the first folder that cannot be made, on which Node's
 * recursive `mkdir` never ends in a file system such as `/proc`.
 */
export async function makeFolder(folder: string, mode = 0o777): Promise<void> {
  if (await isFolder(folder)) return;
  const above = path.dirname(folder);
  if (above !== folder) await makeFolder(above, mode);
  await mkdir(folder, { mode }).catch(async (error: unknown) => {
    if (!(await isFolder(folder))) throw error; // another process may have made it
  });
}

async function isFolder(place: string): Promise<boolean> {
  const found = await stat(place).catch(() => undefined);
  return found?.isDirectory() === true;
}
