import { chmod, readFile, writeFile } from 'node:fs/promises';
import { variablesOf } from '../../config/environment.js';
import { UsageError } from '../../gateway/start-failure.js';

/** Variables for `.env` by their names; undefined: a line commented out with `#`, to be filled in. */
export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Adds variables to a `.env` (mode 0600), without replacing existing values, since replaced keys cannot be recovered.
 * Returns the names of those that are kept.
 */
export async function addToDotEnv(file: string, variables: Variables): Promise<readonly string[]> {
  const before = await readFile(file, 'utf8').catch(emptyIfAbsent);
  const known = variablesOf(before);
  const isThere = ([name]: readonly [string, unknown]): boolean => Boolean(known[name]);
  const all = Object.entries(variables);
  const lines = all.filter((entry) => !isThere(entry)).map(lineOf);
  const separator = before === '' || before.endsWith('\n') ? '' : '\n';
  await writeFile(file, before + separator + lines.join(''), { mode: 0o600 });
  await chmod(file, 0o600);
  return all.filter(isThere).map(([name]) => name);
}

/** Variables of a `.env`; none if the file does not exist. */
export async function readDotEnv(file: string): Promise<Readonly<Record<string, string | undefined>>> {
  return variablesOf(await readFile(file, 'utf8').catch(emptyIfAbsent));
}

function lineOf([name, value]: readonly [string, string | undefined]): string {
  return value === undefined ? `# ${name}=\n` : `${name}=${quoted(name, value)}\n`;
}

/** A value as `.env` takes it. Throws a UsageError, without the value, for one that cannot be written there. */
function quoted(name: string, value: string): string {
  if (/^[\w.+/=:@-]+$/.test(value)) return value;
  const quote = ["'", '"', '`'].find((each) => !value.includes(each));
  if (quote === undefined || /\p{Cc}/u.test(value))
    throw new UsageError(
      `The value of ${name} has characters that .env cannot hold; set it in the environment.`,
    );
  return quote + value + quote;
}

function emptyIfAbsent(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return '';
  throw new UsageError(`.env cannot be read (${error.code}).`);
}
