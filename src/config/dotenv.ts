import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseEnv } from 'node:util';

/**
 * Sets variables of `env` that are unset or empty from the `.env` in `directory`; a missing file is no error.
 * Throws other read errors.
 */
export async function loadDotEnv(directory: string, env: Record<string, string | undefined>): Promise<void> {
  const text = await readFile(path.join(directory, '.env'), 'utf8').catch(noneIfAbsent);
  for (const [name, value] of Object.entries(parseEnv(text))) env[name] ||= value;
}

/**
 * Empty text for a missing file, and for a folder: Docker creates one if the file to mount does not exist.
 */
function noneIfAbsent(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT' || error.code === 'EISDIR') return '';
  throw error;
}
