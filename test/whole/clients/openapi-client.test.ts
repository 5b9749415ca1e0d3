import { execFile } from 'node:child_process';
import { readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { masterKey, startPair, type Pair } from '../harness.js';
import { readDocument } from '../console/panel-client.js';
import { TempFolders } from '../temp-folders.js';

const run = promisify(execFile);

/** What a user of the document writes: types say which fields there are, and which may be left out. */
function programOf(slot: object): string {
  return `import createClient from 'openapi-fetch';
import type { paths } from './api.js';

const [url = '', key = ''] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: url, headers: { 'x-api-key': key } });
const entered = await client.POST('/api/panel/slots', { body: ${JSON.stringify(slot)} });
if (entered.error) throw new Error(entered.error.error.message);
const params = { path: { id: entered.data.id } };
const changed = await client.PATCH('/api/panel/slots/{id}', { params, body: { maxConcurrent: 3, weight: null } });
if (changed.error) throw new Error(changed.error.error.message);
const slot: { id: string; max_concurrent: number; source: 'config' | 'console' } = changed.data;
process.stdout.write(JSON.stringify([slot.id, slot.max_concurrent, slot.source]));
`;
}

/** The generator is loaded by its name alone: nothing else of the tests needs it. */
async function typesOf(document: unknown): Promise<string> {
  const generator: string = 'openapi-typescript';
  const { default: generate } = (await import(generator)) as { default: (of: unknown) => Promise<string> }; // as it says
  return generate(document);
}

describe('a client that is generated from /openapi.json', function () {
  this.timeout(60_000);
  const folders = new TempFolders();
  let pair: Pair;
  before(async () => {
    pair = await startPair();
  });
  after(async () => {
    await pair.close();
    await folders.remove();
  });

  it("compiles, and enters the README's own slot", async () => {
    const [, yaml] = /```yaml\n(slots:[^]*?)```/.exec(await readFile('README.md', 'utf8'))!;
    const [slot] = (parse(yaml!) as { slots: readonly { account: object }[] }).slots;
    const entry = { ...slot, account: { ...slot!.account, key: 'k' } };
    const types = await typesOf(await readDocument(pair.url));
    const folder = await folders.make({
      'package.json': { type: 'module' },
      'api.d.ts': types,
      'client.ts': programOf(entry),
    });
    await symlink(path.resolve('node_modules'), path.join(folder, 'node_modules'));
    const options = [
      '--ignoreConfig',
      '--strict',
      '--module',
      'nodenext',
      '--target',
      'es2023',
      '--skipLibCheck',
    ];
    const tsc = path.resolve('node_modules/typescript/bin/tsc');
    await run(process.execPath, [tsc, ...options, '--types', 'node', 'client.ts'], { cwd: folder }).catch(
      (error: { stdout?: string }) => expect.fail(`it does not compile: ${error.stdout}`),
    );
    const { stdout } = await run(process.execPath, ['client.js', pair.url, masterKey], { cwd: folder });
    expect(JSON.parse(stdout)).to.deep.equal(['team-a', 3, 'console']);
  });
});
