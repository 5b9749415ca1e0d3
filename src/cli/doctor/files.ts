import { stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { existing, folderFault, isWritable } from '../../state/ledger/spool/writable.js';
import { unsendableSecrets } from '../sent-secrets.js';
import { weakSecrets } from '../weak-secrets.js';
import { finding, sizeText, type Finding, type Patient } from './finding.js';

/** Permissions of `.env`. */
export async function dotEnv({ cwd }: Pick<Patient, 'cwd'>): Promise<Finding> {
  const found = await stat(path.join(cwd, '.env')).catch(() => undefined);
  if (!found?.isFile()) return finding('.env', 'none here');
  const mode = (found.mode & 0o777).toString(8);
  const isOpen = (found.mode & 0o077) !== 0 && process.platform !== 'win32';
  return finding('.env', `mode ${mode}`, {
    warning: isOpen ? `other users of this machine can read it (mode ${mode}): chmod 600 .env` : undefined,
  });
}

/** Secrets of the environment; generated ones need a `.env` to be stored in. */
export async function secrets({ env, cwd }: Pick<Patient, 'env' | 'cwd'>): Promise<Finding> {
  const missing = ['GW2API_API_KEY', 'GW_SECRET_KEY'].filter((name) => !env[name]);
  const weak = weakSecrets(env).join('\n') || undefined;
  const unsendable = unsendableSecrets(env).join('\n') || undefined;
  if (unsendable !== undefined) return finding('secrets', '', { problem: unsendable });
  if (missing.length === 0)
    return finding('secrets', 'GW2API_API_KEY and GW_SECRET_KEY are set', { warning: weak });
  const names = missing.join(' and ');
  const isKept = await isWritable(path.join(cwd, '.env'));
  return finding('secrets', `${names} will be created at the first start and written to .env`, {
    problem: isKept
      ? undefined
      : `${names} ${missing.length === 1 ? 'is' : 'are'} not set, and .env cannot be written: set ${missing.length === 1 ? 'it' : 'them'}`,
    warning: weak,
  });
}

/** Space and permission for the gateway's files: the SQLite file, the ledger's spool. */
export async function disk({ config: { store, ledger } }: Patient): Promise<Finding> {
  const folders = [
    ...(store.kind === 'sqlite' ? [path.dirname(store.file)] : []),
    ...(ledger.spool === undefined ? [] : [ledger.spool]),
  ];
  const [first] = folders;
  if (first === undefined) return finding('disk', 'nothing is written');
  for (const folder of folders) {
    const problem = await folderFault(folder);
    if (problem !== undefined) return finding('disk', '', { problem });
  }
  const { bavail, bsize } = await statfs(await existing(first));
  const free = bavail * bsize;
  const text = `${sizeText(free)} free in ${first}`;
  return finding('disk', text, {
    problem: free < minBytes ? `${text}: the store cannot be written; free some space` : undefined,
    warning: free < fewBytes ? `${text}: free some space, or lower ledger.keepDays` : undefined,
  });
}

const minBytes = 32e6;
const fewBytes = 1e9;
