import { execFile, type ExecFileException } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { masterKey, startPair, type Pair } from '../harness.js';
import { readDocument } from './panel-client.js';
import { TempFolders, writeIn } from '../temp-folders.js';

const run = promisify(execFile);

/** Folder with the tools that people read such documents with (`.ci/run` says which); and Go. */
const tools = process.env['GW_TEST_OPENAPI_TOOLS'];
const go = process.env['GW_TEST_GO'];

/** A program that compiles each pattern, one a line, and prints those that it cannot. */
const compilers: Readonly<Record<string, { readonly file: string; readonly text: string }>> = {
  python3: {
    file: 'patterns.py',
    text: `import re, sys
for line in sys.stdin.read().splitlines():
    try: re.compile(line)
    except re.error as error: print(line, error)
`,
  },
  go: {
    file: 'patterns.go',
    text: `package main
import ("bufio"; "fmt"; "os"; "regexp")
func main() {
  lines := bufio.NewScanner(os.Stdin)
  for lines.Scan() { if _, err := regexp.Compile(lines.Text()); err != nil { fmt.Println(err) } }
}
`,
  },
};

describe('/openapi.json, by the tools of others', function () {
  this.timeout(180_000);
  const folders = new TempFolders();
  let pair: Pair;
  let folder: string;
  let document: Readonly<Record<string, unknown>>;
  before(async function () {
    if (!tools) return this.skip();
    pair = await startPair();
    document = await readDocument(pair.url);
    folder = await folders.make({
      'package.json': { type: 'module' },
      'openapi.json': document,
      'spectral.yaml': 'extends: ["spectral:oas"]\n',
      ...Object.fromEntries(Object.values(compilers).map(({ file, text }) => [file, text])),
    });
    await symlink(path.join(tools, 'node_modules'), path.join(folder, 'node_modules'));
  });
  after(async () => {
    await pair?.close();
    await folders.remove();
  });

  /** Output of a program in the folder; fails with it where the program does. */
  async function output(program: string, args: readonly string[], input?: string): Promise<string> {
    const running = run(program, args, {
      cwd: folder,
      env: { ...process.env, GOCACHE: `${folder}/go`, CI: '1' },
    });
    running.child.stdin?.end(input);
    return running.then(
      ({ stdout }) => stdout,
      (error: ExecFileException & { stdout: string; stderr: string }) =>
        expect.fail(`${program} ${args.join(' ')}: ${error.stdout}${error.stderr}`),
    );
  }
  const bin = (name: string) => path.join(tools!, 'node_modules/.bin', name);

  it('passes redocly', async () => {
    await output(bin('redocly'), ['lint', 'openapi.json', '--extends', 'minimal']);
  });

  it('passes spectral, but for words that it would like more of', async () => {
    const args = ['lint', '-r', 'spectral.yaml', '--format', 'json', '--quiet', 'openapi.json'];
    const found = JSON.parse((await output(bin('spectral'), args)).split('\n\n')[0]!) as { code: string }[];
    const codes = new Set(found.map(({ code }) => code));
    expect([...codes].filter((code) => !wordy.has(code))).to.deep.equal([]);
  });

  it('has patterns that ECMAScript, Python and Go read', async function () {
    const patterns = [...new Set(patternsIn(document))];
    expect(patterns.length).to.be.at.least(5);
    for (const pattern of patterns) expect(() => new RegExp(pattern)).not.to.throw();
    for (const pattern of patterns) expect(() => new RegExp(pattern, 'u')).not.to.throw();
    const lines = `${patterns.join('\n')}\n`;
    expect(await output('python3', [compilers['python3']!.file], lines)).to.equal('');
    if (!go) return this.skip();
    expect(await output(go, ['run', compilers['go']!.file], lines)).to.equal('');
  });

  it('makes a client that compiles and calls it', async () => {
    await output(bin('openapi-ts'), ['-i', 'openapi.json', '-o', 'client', '-c', '@hey-api/client-fetch']);
    await writeIn(folder, 'main.ts', caller);
    const strict = ['--strict', '--module', 'esnext', '--moduleResolution', 'bundler', '--target', 'es2023'];
    const options = [...strict, '--types', 'node', '--skipLibCheck', '--outDir', 'built', 'main.ts'];
    await output(bin('tsc'), options);
    const bundle = ['built/main.js', '--bundle', '--platform=node', '--format=esm', '--outfile=main.mjs'];
    await output(bin('esbuild'), bundle);
    const said = await output(process.execPath, ['main.mjs', pair.url, masterKey]);
    expect(JSON.parse(said)).to.deep.equal({ status: 'ok', key: 'made by a client', text: 'a' });
  });
});

/** Program of somebody who has generated the client: its types say which fields there are. */
const caller = `import { client } from './client/client.gen.js';
import { getHealth, getPanelSlots, postPanelKeys } from './client/sdk.gen.js';

const [baseUrl = '', key = ''] = process.argv.slice(2);
client.setConfig({ baseUrl, headers: { 'x-api-key': key } });
const health = await getHealth({ query: { ready: '1' }, throwOnError: true });
const issued = await postPanelKeys({ body: { name: 'made by a client' }, throwOnError: true });
const slots = await getPanelSlots({ throwOnError: true });
const status: string = health.data.status;
const name: string = issued.data.name;
console.log(JSON.stringify({ status, key: name, text: slots.data.data[0]?.id }));
`;

/** Rules about texts that this document leaves out: a summary says what an operation does. */
const wordy: ReadonlySet<string> = new Set([
  'operation-description',
  'info-contact',
  'operation-success-response',
]);

function patternsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(patternsIn);
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'pattern' && typeof inner === 'string' ? [inner] : patternsIn(inner),
  );
}
