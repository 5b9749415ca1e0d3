import { readFile } from 'node:fs/promises';
import type { AccountHost } from '@gw2api/gateway/plugin/upstream';
import { withoutToken } from './token-endpoint.js';

/** Text of a file that an option names, read again each time: such files are rotated. Throws if it cannot be read. */
export async function secretFile(option: string, file: string, host: AccountHost): Promise<string> {
  try {
    return (await readFile(host.resolvePath(file), 'utf8')).trim();
  } catch (cause) {
    const { code = 'unreadable' } = cause as NodeJS.ErrnoException; // of a file
    throw withoutToken(
      host.slot.id,
      `${option} ${code}`,
      `let the gateway read the file that ${option} names`,
      cause,
    );
  }
}
