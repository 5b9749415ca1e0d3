import { randomBytes } from 'node:crypto';
import { appendFile, chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Master key from `GW2API_API_KEY`, or else a new one, which `keepMasterKey` must save and `welcome` must
 * print.
 */
export function masterKeyOf({ GW2API_API_KEY: given }: Readonly<Record<string, string | undefined>>): {
  readonly masterKey: string;
  readonly isNew: boolean;
} {
  if (given) return { masterKey: given, isNew: false };
  return { masterKey: `gw-master-${randomBytes(24).toString('base64url')}`, isNew: true };
}

/** Adds a new key to `.env` in `cwd` (mode 0600) and returns the file; undefined if it cannot be written. */
export async function keepMasterKey(cwd: string, masterKey: string): Promise<string | undefined> {
  const file = join(cwd, '.env');
  return (await addLine(file, `GW2API_API_KEY=${masterKey}`)) ? file : undefined;
}

/**
 * Reads `GW_SECRET_KEY`, or else creates one on the first call and adds it to `.env` in `cwd`. Undefined if
 * `.env` cannot be written: data encrypted with a lost key could not be read again.
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
    return false; // read-only folder: the key is valid for this process only, as `welcome` prints
  }
}

export interface NewKey {
  readonly masterKey: string;
  /**
   * File that holds the key; undefined if none could be written, and the key is lost when the process ends.
   */
  readonly file: string | undefined;
}

/**
 * Text of the first start, printed once: the key, a request in each format ready to paste, and the URL of the console.
 * `model`: a served one; undefined if only the upstreams know.
 */
export function welcome(url: string, { masterKey, file }: NewKey, model: string | undefined): string {
  const base = url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//127.0.0.1:');
  const kept = file
    ? `written to ${file}`
    : 'NOT saved, because .env cannot be written here: set GW2API_API_KEY';
  const curls = requests(model ?? 'MODEL').map(
    ([path, body]) =>
      `curl ${base}${path} -H 'authorization: Bearer ${masterKey}' -H 'content-type: application/json' -d '${JSON.stringify(body)}'`,
  );
  return `\nMaster key: ${masterKey}\n(shown once; ${kept})\n\nTry it, one line a format${model === undefined ? `, MODEL being one that GET ${base}/v1/models lists` : ''}:\n\n${curls.join('\n\n')}\n\nThe console: ${base}/panel\n\n`;
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
