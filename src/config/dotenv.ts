import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseEnv } from 'node:util';

/** Puts what a `.env` in `directory` says into `env`, but for what is set there already, to more than nothing. No file is no error. Throws what reading throws. */
export async function loadDotEnv(directory: string, env: Record<string, string | undefined>): Promise<void> {
  const text = await readFile(path.join(directory, '.env'), 'utf8').catch(noneIfAbsent);
  for (const [name, value] of Object.entries(parseEnv(text))) env[name] ||= value;
}

/** Docker makes a folder in place of a file that it is told to mount and does not find. */
function noneIfAbsent(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT' || error.code === 'EISDIR') return '';
  throw error;
}
