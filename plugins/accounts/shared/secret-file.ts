import { readFile } from 'node:fs/promises';
import type { AccountHost } from 'gw2api/plugin/upstream';
import { withoutToken } from './token-endpoint.js';

/** Text of a file that an option names, read anew each time: such files are rotated. Throws if it cannot be read. */
export async function secretFile(option: string, file: string, { slot }: AccountHost): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (cause) {
    const { code = 'unreadable' } = cause as NodeJS.ErrnoException; // of a file
    throw withoutToken(
      slot.id,
      `${option} ${code}`,
      `let the gateway read the file that ${option} names`,
      cause,
    );
  }
}
