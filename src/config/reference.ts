import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { readComments } from './comments.js';

/** The config that has every key, with comments. */
const reference = fileURLToPath(new URL('../../config/gateway.reference.yaml', import.meta.url));

/**
 * Comments of the reference config on each key, by the paths of `readComments`. Empty where the file is missing, as
 * where another folder has been mounted in place of `config`.
 */
export async function referenceComments(): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(reference, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return readComments(text);
}
