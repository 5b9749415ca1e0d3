import path from 'node:path';
import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { readFileSync, statSync } from 'node:fs';
import { addressEncoder } from './addresses.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** True if the environment asks for strict stages. */
export function isStrict(env: Environment): boolean {
  return env['GW_STRICT'] === '1';
}

/**
 * Variables: `${NAME}`, `${NAME:-default}` (the default also replaces an empty value, as in a shell),
 * `${file:PATH}`; `$${` is a plain `${`. An unclosed variable matches to the end of the text, so that the
 * search stays linear.
 */
const reference = /\$(\$\{)|\$\{(?:(?:file:(?!-)([^}]*)|([A-Za-z_]\w*)(?::-([^}]*))?)(\}|$))?/g;

/** A text after substitution, with its errors. */
export interface Filled {
  readonly text: string;
  /** Names of variables without a value and without a default. */
  readonly unset: readonly string[];
  /** Error messages of files that could not be read. */
  readonly unread: readonly string[];
  /** True if a `${` begins no valid variable. */
  readonly isMalformed: boolean;
}

/** Substitutes variables in the text of a scalar. */
export type Fill = (text: string) => Filled;

/** Reads the text of a file. Throws an Error whose message describes the error. */
export type ReadSecret = (file: string) => string;

/** Placeholders for missing variables and files, for a config that is tested and does not serve. */
export interface Placeholders {
  /** Value of a variable that is unset and has no default. */
  variable(name: string): string;
  /** Text of a file that cannot be read. */
  file(file: string): string;
}

/**
 * Substitutes environment variables and files in a text; within the user and password of an address they are
 * percent-encoded.
 */
export function substitute(
  text: string,
  env: Environment,
  readSecret: ReadSecret,
  placeholders?: Placeholders,
): Filled {
  const unset: string[] = [];
  const unread: string[] = [];
  let isMalformed = false;
  const encode = addressEncoder(text);
  const replaced = text.replace(
    reference,
    (...[whole, escaped, file, name, fallback, end, offset]: Match) => {
      const encoded = (value: string) => encode(value, offset);
      if (escaped !== undefined) return escaped;
      isMalformed ||= end !== '}' || file === '';
      if (file && end === '}') return encoded(fromFile(file, readSecret, unread, placeholders));
      if (name === undefined || end !== '}') return whole;
      const set = valueOf(env, name);
      const given = fallback === undefined ? set : set || fallback;
      const value = given ?? placeholders?.variable(name);
      if (value === undefined) unset.push(name);
      return value === undefined ? whole : encoded(value);
    },
  );
  return { text: replaced, unset, unread, isMalformed };
}

/** Value of a variable; undefined for a name that each object has, such as `constructor`. */
function valueOf(env: Environment, name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined;
}

/** Arguments of the replacer: the match, its groups, and its position. */
type Match = [
  whole: string,
  escaped: string | undefined,
  file: string | undefined,
  name: string | undefined,
  fallback: string | undefined,
  end: string | undefined,
  offset: number,
];

function fromFile(
  file: string,
  readSecret: ReadSecret,
  unread: string[],
  placeholders: Placeholders | undefined,
): string {
  try {
    return readSecret(file);
  } catch (error) {
    if (placeholders) return placeholders.file(file);
    unread.push(error instanceof Error ? error.message : String(error));
    return '';
  }
}

/**
 * The value of an unquoted YAML scalar: number, boolean, null or text. A number that would be written
 * differently (a key of forty digits) stays a text.
 */
export function parseScalar(text: string): string | number | boolean | null {
  if (text.trim() === '') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  const number = Number(text);
  return String(number) === text && Number.isFinite(number) ? number : text;
}

/**
 * Sets variables of `env` that are unset or empty from the `.env` in `directory`; a missing file is not an error.
 * Throws other read errors.
 */
export async function loadDotEnv(directory: string, env: Record<string, string | undefined>): Promise<void> {
  const text = await readFile(path.join(directory, '.env'), 'utf8').catch(noneIfAbsent);
  for (const [name, value] of Object.entries(variablesOf(text))) if (!valueOf(env, name)) env[name] = value;
}

/** Variables in the text of a `.env`; ignores a byte order mark, which editors of Windows write. */
export function variablesOf(text: string): NodeJS.Dict<string> {
  return parseEnv(text.replace(/^\ufeff/, ''));
}

/**
 * Empty text for a missing file, and for a folder: Docker creates one if the file to mount does not exist.
 */
function noneIfAbsent(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT' || error.code === 'EISDIR') return '';
  throw error;
}

/** Max bytes of a file that `${file:PATH}` reads: a secret, not a document. */
const maxBytes = 64 * 1024;

/**
 * The text of a file without trailing line ends, which editors and `echo` add; a relative path starts at
 * `baseDir`. Throws an Error that describes the error without repeating the contents.
 */
export function readSecretFile(file: string, baseDir: string): string {
  const resolved = path.resolve(baseDir, file);
  // At most nine line ends: an unbounded repetition takes quadratic time on a file full of them.
  const text = decoded(bytesOf(file, resolved), file).replace(/(?:\r?\n){1,9}$/, '');
  if (text === '') throw new Error(`the file ${file} is empty`);
  return text;
}

function bytesOf(file: string, resolved: string): Buffer {
  try {
    const stats = statSync(resolved);
    // Regular files only: reading a pipe or a device might never end.
    if (!stats.isFile()) throw new Error(`${file} is not a file`);
    if (stats.size > maxBytes) throw new Error(`the file ${file} is larger than ${maxBytes / 1024} kB`);
    return readFileSync(resolved);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException; // nothing else is thrown here
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
