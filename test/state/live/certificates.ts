import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

/** Files of a self-signed certificate and its key. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

const run = promisify(execFile);

/** Makes a certificate in the folder, valid for `names` (such as `IP:127.0.0.1`) for a day, or until yesterday. */
export async function makeCertificate(
  folder: string,
  { names = 'IP:127.0.0.1', isExpired = false } = {},
): Promise<Certificate> {
  const name = `${names}-${isExpired}`.replaceAll(/\W/g, '-');
  const [cert, key] = [path.join(folder, `${name}.crt`), path.join(folder, `${name}.key`)];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'];
  const subject = ['-subj', '/CN=redis', '-addext', `subjectAltName=${names}`];
  await run('openssl', ['req', '-x509', ...kind, ...subject, '-keyout', key, '-out', cert]);
  if (isExpired) await run('openssl', ['x509', '-in', cert, '-signkey', key, '-days', '-1', '-out', cert]);
  return { cert, key };
}
