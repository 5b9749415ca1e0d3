import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';

/** Max bytes of a file that `${file:PATH}` reads: a secret, not a document. */
const mostBytes = 64 * 1024;

/**
 * The text of a file without trailing line ends, which editors and `echo` add; a relative path starts at
 * `baseDir`. Throws an Error that describes the fault without repeating the contents.
 */
export function readSecretFile(file: string, baseDir: string): string {
  const resolved = path.resolve(baseDir, file);
  const text = decoded(bytesOf(file, resolved), file).replace(/(?:\r?\n){1,9}$/, '');
  if (text === '') throw new Error(`the file ${file} is empty`);
  return text;
}

function bytesOf(file: string, resolved: string): Buffer {
  try {
    const stats = statSync(resolved);
    // Regular files only: reading a pipe or a device might never end.
    if (!stats.isFile()) throw new Error(`${file} is not a file`);
    if (stats.size > mostBytes) throw new Error(`the file ${file} is larger than ${mostBytes / 1024} kB`);
    return readFileSync(resolved);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException; // all that is thrown here
    if (code === undefined) throw error;
    const why = code === 'ENOENT' ? 'is not there' : `cannot be read (${code})`;
    throw new Error(code.startsWith('ERR_') ? message : `the file ${file} ${why}`, { cause: error });
  }
}

function decoded(bytes: Buffer, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch (error) {
    throw new Error(`the file ${file} is not text in UTF-8`, { cause: error });
  }
}
