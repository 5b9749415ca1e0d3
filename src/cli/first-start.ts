import { randomBytes } from 'node:crypto';
import { appendFile, chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** `GW2API_API_KEY`; where there is none, a new one, which is of use once `keepMasterKey` and `welcome` have told of it. */
export function masterKeyOf({ GW2API_API_KEY: given }: Readonly<Record<string, string | undefined>>): {
  readonly masterKey: string;
  readonly isNew: boolean;
} {
  if (given) return { masterKey: given, isNew: false };
  return { masterKey: `gw-master-${randomBytes(24).toString('base64url')}`, isNew: true };
}

/** A warning about a weak master key; undefined where it is strong, or there is none. */
export function weaknessOf(masterKey: string): string | undefined {
  if (masterKey === '' || masterKey.length >= minKeyLength) return undefined;
  return `GW2API_API_KEY is shorter than ${minKeyLength} characters and can be guessed; set a longer one.`;
}

const minKeyLength = 16;

/** Adds a new key to `.env` in `cwd` (mode 0600) and gives the file; undefined where that cannot be written. */
export async function keepMasterKey(cwd: string, masterKey: string): Promise<string | undefined> {
  const file = join(cwd, '.env');
  return (await addLine(file, `GW2API_API_KEY=${masterKey}`)) ? file : undefined;
}

/**
 * Gives `GW_SECRET_KEY`; where there is none, a new one, which the first call adds to `.env` in `cwd`. Undefined where that
 * cannot be written: what would be encrypted with a key that nobody keeps could not be read again.
 */
export function secretKeyOf(
  cwd: string,
  { GW_SECRET_KEY: given }: Readonly<Record<string, string | undefined>>,
): () => Promise<string | undefined> {
  let made: Promise<string | undefined> | undefined;
  const make = async () => {
    const secretKey = randomBytes(32).toString('base64');
    return (await addLine(join(cwd, '.env'), `GW_SECRET_KEY=${secretKey}`)) ? secretKey : undefined;
  };
  return async () => given || (made ??= make());
}

async function addLine(file: string, line: string): Promise<boolean> {
  try {
    const before = await readFile(file, 'utf8').catch(() => '');
    const separator = before === '' || before.endsWith('\n') ? '' : '\n';
    await appendFile(file, `${separator}${line}\n`, { mode: 0o600 });
    await chmod(file, 0o600);
    return true;
  } catch {
    return false; // a read-only place: the key holds for this process, and `welcome` says so
  }
}

export interface NewKey {
  readonly masterKey: string;
  /** Where it was written; undefined where nothing could be written, so that it is gone with the process. */
  readonly file: string | undefined;
}

/** What the first start prints, once: the key and a request in each format, ready to paste, and where the console is. */
export function welcome(url: string, { masterKey, file }: NewKey, model: string): string {
  const base = url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//127.0.0.1:');
  const kept = file ? `written to ${file}` : 'NOT kept, for .env cannot be written here: set GW2API_API_KEY';
  const curls = requests(model).map(
    ([path, body]) =>
      `curl ${base}${path} -H 'authorization: Bearer ${masterKey}' -H 'content-type: application/json' -d '${JSON.stringify(body)}'`,
  );
  return `\nMaster key: ${masterKey}\n(shown once; ${kept})\n\nTry it, one line a format:\n\n${curls.join('\n\n')}\n\nThe console: ${base}/panel\n\n`;
}

function requests(model: string): readonly (readonly [path: string, body: object])[] {
  const messages = [{ role: 'user', content: 'Hello!' }];
  return [
    ['/v1/messages', { model, max_tokens: 256, messages }],
    ['/v1/chat/completions', { model, messages, stream: true }],
    ['/v1/responses', { model, input: 'Hello!' }],
    ['/v1/completions', { model, prompt: 'Hello!' }],
  ];
}
