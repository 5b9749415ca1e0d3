import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Path of a program on the PATH or among the administrator's; undefined if it is not installed. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // which is the answer
  }
}
