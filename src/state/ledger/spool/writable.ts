import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';

/** True if a file or folder may be written; for a missing one, the nearest existing folder above it. */
export async function isWritable(file: string): Promise<boolean> {
  return access(await existing(file), constants.W_OK).then(
    () => true,
    () => false,
  );
}

/** Reason why a folder cannot be created or written, with the fix; undefined if it can. */
export async function folderFault(folder: string): Promise<string | undefined> {
  const above = await existing(folder);
  if (!(await stat(above)).isDirectory()) return `${folder} cannot be created: ${above} is a file`;
  if (await isWritable(above)) return undefined;
  return `${folder} cannot be written: give it to the gateway's user, or mount it writable`;
}

/** The file or folder itself, or the nearest existing folder above it. */
export async function existing(file: string): Promise<string> {
  const isThere = await access(file).then(
    () => true,
    () => false,
  );
  const above = path.dirname(file);
  return isThere || above === file ? file : existing(above);
}
