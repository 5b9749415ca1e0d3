import { execFile } from 'node:child_process';
import { cp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { ProcessWorkshop } from '../whole/gateway-process.js';
import { ask, configOf, masterKey } from '../whole/harness.js';

/** Features that can be left out; keys, slots, requests and pipeline stay. */
const removable =
  'audit cache-ledger canary connect dry-run explain login metrics openapi opentelemetry playground replay tests tokens usage websockets'.split(
    ' ',
  );

/** Tests that hold without these features. */
const tested = ['engine', 'state', 'config'];

const project =
  'src plugins test config package.json package-lock.json tsconfig.json README.md .gitignore'.split(' ');

describe('the features that can be left out', function () {
  this.timeout(15 * 60_000);
  const workshop = new ProcessWorkshop();
  let copy: string;

  before(async () => {
    copy = await workshop.folder();
    for (const name of project) await cp(name, path.join(copy, name), { recursive: true });
    await symlink(path.resolve('node_modules'), path.join(copy, 'node_modules'));
    for (const name of removable) await rm(path.join(copy, 'src/features', name), { recursive: true });
    for (const list of ['index.ts', 'pages.tsx']) await edit(`src/features/${list}`, withoutRemoved);
    const measurements = /,\s*\{ "path": "\.\/test\/(?:bench|failover)" \}/g; // they measure features, too
    await edit('tsconfig.json', (text) => text.replaceAll(measurements, ''));
    await edit('test/tsconfig.json', (text) => {
      const { compilerOptions, ...rest } = JSON.parse(text) as { readonly compilerOptions: object };
      const include = tested.map((folder) => `${folder}/**/*.ts`); // with the helpers that they import
      return JSON.stringify({ ...rest, include, compilerOptions: { ...compilerOptions, composite: false } });
    });
  });

  after(() => workshop.end());

  const edit = async (name: string, change: (text: string) => string): Promise<void> => {
    const file = path.join(copy, name);
    await writeFile(file, change(await readFile(file, 'utf8')));
  };

  it('are a folder and their lines in the lists of features and pages: types are clean without them', () =>
    run(copy, ['node_modules/typescript/bin/tsc', '-b']));

  it('are missed by no module of the bundle and no page that stays', () => run(copy, ['build/build/all.js']));

  it('are missed by no server: it starts, and a stream passes', async () => {
    const slots = [{ id: 'a', upstream: 'simulator', models: ['sonnet-5'] }];
    const config = stringify(configOf({ listen: { host: '127.0.0.1', port: 0 }, slots }));
    const cwd = await workshop.folder({ 'gateway.yaml': config });
    const entry = path.join(copy, 'dist/server.js');
    const env = { GW2API_API_KEY: masterKey };
    const server = await workshop.start({ entry, cwd, env, args: ['--config', 'gateway.yaml'] });
    const answer = await fetch(`${await server.url()}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': masterKey },
      body: JSON.stringify({ ...ask('Hi'), stream: true }),
    });
    const text = await answer.text();
    expect(answer.status, text).to.equal(200);
    expect(text).to.match(/^event: message_stop$/m);
    server.signal('SIGTERM');
    expect((await server.ended).code).to.equal(0);
  });

  it('are missed by no test of engine, state and config', async () => {
    const schema = await run(copy, ['dist/server.js', 'docs', '--schema', '--config', 'config/gateway.yaml']);
    await writeFile(path.join(copy, 'config/gateway.schema.json'), schema);
    const files = `build/test/{${tested.join(',')}}/**/*.test.js`;
    await run(copy, ['node_modules/mocha/bin/mocha.js', ...quickly, files]);
  });
});

/** Options of mocha for the quick tests of these files alone. */
const quickly =
  '--no-config --parallel --jobs 2 --timeout 60000 --reporter dot --ignore build/test/**/*.full.test.js'.split(
    ' ',
  );

/** Runs a module of a folder, without the servers that tests may have; rejects with what it has printed. */
async function run(cwd: string, args: readonly string[]): Promise<string> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GW_')));
  const maxBuffer = 64 * 2 ** 20;
  try {
    return (await promisify(execFile)(process.execPath, args, { cwd, env, maxBuffer })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string }; // of execFile
    throw new Error(`${args.join(' ')} has failed:\n${stdout}${stderr}`, { cause: error });
  }
}

/** A list of features or pages without the imports of the removed ones, and without what they bring. */
function withoutRemoved(text: string): string {
  const names: string[] = [];
  const imports = new RegExp(`import \\{ ([^}]*) \\} from '\\./(?:${removable.join('|')})/[^']*';\\n`, 'g');
  const kept = text.replace(imports, (_, list: string) => {
    names.push(...list.split(',').map((name) => name.trim()));
    return '';
  });
  return names.reduce(
    (list, name) => list.replace(new RegExp(`\\s*(?:\\w+=\\{${name}\\}|\\b${name}\\b,?)`, 'g'), ''),
    kept,
  );
}
