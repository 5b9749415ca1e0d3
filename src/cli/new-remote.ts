import { readFile } from 'node:fs/promises';
import { packageFile } from '../kit/package-files.js';
import { checkName, writeNew } from './new-files.js';

/** Writes a server of remote stages into a folder, and prints the next steps. Throws a UsageError, and then writes nothing. */
export async function newRemote(name: string, cwd: string, isPython: boolean): Promise<string> {
  checkName('remote', name);
  const ending = isPython ? 'py' : 'mjs';
  const example = await readFile(packageFile(`config/examples/remote.${ending}`), 'utf8');
  const file = `${name}.${ending}`;
  const written = await writeNew(cwd, { [file]: example.replace(`remote.${ending}`, file) });
  const options = 'url: "http://127.0.0.1:9400", secret: "${REMOTE_SECRET}", on: [request, events]';
  return [
    ...written,
    'make a secret:  export REMOTE_SECRET="whsec_$(openssl rand -base64 24)"',
    `start it:  PORT=9400 ${isPython ? 'python3' : 'node'} ${file}`,
    'test it:  gw2api test-remote http://127.0.0.1:9400 --secret "$REMOTE_SECRET"',
    `list it under pipeline:  - { use: remote, name: ${name}, with: { ${options} } }`,
    '',
  ].join('\n');
}
