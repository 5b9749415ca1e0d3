import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { UsageError } from '../gateway/start-failure.js';
import { makeFolder } from '../plugin/index.js';

/** Throws a UsageError for a name that cannot be that of a plugin or a server. */
export function checkName(kind: string, name: string): void {
  if (name === '') throw new UsageError(`The name is missing: gw2api new ${kind} NAME.`);
  if (!/^[a-z][a-z0-9]{0,30}(?:-[a-z0-9]{1,30}){0,5}$/.test(name))
    throw new UsageError(
      `"${name}" is not a valid name: use lower-case letters, digits and hyphens, such as my-${kind}.`,
    );
}

/** Writes new files into a folder; returns a list of them. Throws a UsageError if one exists, and then writes nothing. */
export async function writeNew(
  cwd: string,
  files: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const taken = Object.keys(files).find((file) => existsSync(path.join(cwd, file)));
  if (taken !== undefined)
    throw new UsageError(`${taken} already exists; choose another name, or move it away.`);
  for (const [file, text] of Object.entries(files)) {
    await makeFolder(path.dirname(path.join(cwd, file)));
    await writeFile(path.join(cwd, file), text, { flag: 'wx' });
  }
  return ['written:', ...Object.keys(files).map((file) => `  ${file}`), ''];
}
