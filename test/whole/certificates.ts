import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { writeIn } from './temp-folders.js';

const run = promisify(execFile);

/**
 * Makes a certificate that signs itself, and its key, in a folder: `NAME.crt` and `NAME.key`. `host`: the name that it is
 * of.
 */
export async function makeCertificate(folder: string, name: string, host: string): Promise<void> {
  const [crt, key] = [path.join(folder, `${name}.crt`), path.join(folder, `${name}.key`)];
  const made = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-keyout',
    key,
    '-out',
    crt,
  ];
  const said = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${host}`, '-days', '2'];
  await run('openssl', ['req', '-x509', ...made, ...said]);
}

/** Makes a certificate that another one, of `makeCertificate`, has signed. */
export async function signCertificate(
  folder: string,
  name: string,
  host: string,
  issuer: string,
): Promise<void> {
  const file = (ending: string) => path.join(folder, `${name}.${ending}`);
  const made = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-keyout',
    file('key'),
  ];
  await run('openssl', ['req', '-new', ...made, '-out', file('csr'), '-subj', `/CN=${name}`]);
  await writeIn(folder, `${name}.ext`, `subjectAltName=DNS:${host}\n`);
  const by = ['-CA', path.join(folder, `${issuer}.crt`), '-CAkey', path.join(folder, `${issuer}.key`)];
  const out = ['-out', file('crt'), '-days', '2', '-extfile', file('ext'), '-CAcreateserial'];
  await run('openssl', ['x509', '-req', '-in', file('csr'), ...by, ...out]);
}
