import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { startSimulator } from '#plugins/upstreams/simulator/server.js';
import { ProcessWorkshop } from '../whole/gateway-process.js';
import { ask, configOf, masterKey, slotAt } from '../whole/harness.js';

/** Modules of features that the config below leaves off, and of those that no request has asked for. */
const off = [
  'cache-ledger/',
  'canary/canary.ts',
  'canary/local-canary.ts',
  'dry-run/',
  'explain/thread-handle.ts',
  'explain/live-explainer.ts',
  'opentelemetry/',
  'playground/',
  'replay/',
  'requests/kept-error-texts.ts',
  'websockets/',
];

/** Module that writes down the parts of Node that a process has loaded. */
const writeBuiltins = `if (require('node:worker_threads').isMainThread)
  process.on('exit', () => require('node:fs').writeFileSync('builtins.txt', process.moduleLoadList.join('\\n')));`;

interface Loaded {
  /** Modules of `src` and `plugins`. */
  readonly own: readonly string[];
  readonly packages: readonly string[];
}

/** Modules in the parts of the bundle that a process has loaded, by the coverage that V8 has written at its end. */
async function loadedIn(folder: string): Promise<Loaded> {
  const files = new Set<string>();
  for (const file of await readdir(folder)) {
    const { result } = JSON.parse(await readFile(path.join(folder, file), 'utf8')) as {
      readonly result: readonly { readonly url: string }[];
    };
    for (const { url } of result) if (url.startsWith('file:')) files.add(fileURLToPath(url));
  }
  const modules = [...files].flatMap(modulesIn).map((module) => path.relative('.', module));
  return {
    own: modules.filter((module) => /^(?:src|plugins)\//.test(module)),
    packages: modules.filter((module) => module.startsWith('node_modules/')),
  };
}

/** Sources within a file of the bundle. */
function modulesIn(file: string): readonly string[] {
  if (!existsSync(`${file}.map`)) return [file];
  const { sources } = JSON.parse(readFileSync(`${file}.map`, 'utf8')) as {
    readonly sources: readonly string[];
  };
  return sources.map((source) => path.resolve(path.dirname(file), source));
}

describe('a feature that is off', () => {
  const workshop = new ProcessWorkshop();
  afterEach(() => workshop.end());

  it('is not loaded by a server that has answered a request, but for the word that it exists', async () => {
    const simulator = await startSimulator();
    const config = configOf({
      listen: { host: '127.0.0.1', port: 0, webSockets: false },
      ledger: { cacheCauses: false },
      slots: [slotAt(simulator.url)],
    });
    const cwd = await workshop.folder({ 'gateway.yaml': stringify(config), 'builtins.cjs': writeBuiltins });
    const coverage = path.join(cwd, 'coverage');
    const require = `--require ${path.join(cwd, 'builtins.cjs')}`;
    const env = { NODE_V8_COVERAGE: coverage, NODE_OPTIONS: require, GW2API_API_KEY: masterKey };
    const server = await workshop.start({ args: ['--config', 'gateway.yaml'], cwd, env });
    const answer = await fetch(`${await server.url()}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': masterKey },
      body: JSON.stringify(ask('Hi')),
    });
    expect(answer.status, await answer.text()).to.equal(200);
    server.signal('SIGTERM');
    expect((await server.ended).code).to.equal(0);
    await simulator.close();
    const builtins = await readFile(path.join(cwd, 'builtins.txt'), 'utf8');
    expect(builtins).to.include('NativeModule http').and.not.include('deps/undici'); // Node's own fetch
    const { own: loaded, packages } = await loadedIn(coverage);
    expect(packages.filter((module) => module.includes('/undici/'))).not.to.deep.equal([]);
    // prom-client imports the API.
    expect(packages.filter((module) => /@opentelemetry\/(?!api\/)/.test(module))).to.deep.equal([]);
    expect(loaded).to.include.members(['src/server.ts', 'src/features/metrics/request-metrics.ts']);
    const ofFeatures = loaded
      .filter((module) => module.startsWith('src/features/') && !/\/(?:index|extension)\.ts$/.test(module))
      .map((module) => module.slice('src/features/'.length));
    expect(ofFeatures.filter((module) => off.some((part) => module.startsWith(part)))).to.deep.equal([]);
  });

  it('is not loaded by the verb of another one', async () => {
    const cwd = await workshop.folder({});
    const coverage = path.join(cwd, 'coverage');
    const { code } = await workshop.spawn({ args: ['replay'], cwd, env: { NODE_V8_COVERAGE: coverage } });
    expect(code).to.equal(2);
    const { own } = await loadedIn(coverage);
    const ofFeatures = own.filter((module) => module.startsWith('src/features/'));
    expect(ofFeatures).to.include('src/features/replay/verb/command.ts');
    const others = /^src\/features\/(?!replay\/|dry-run\/)(?!.*\/(?:index|extension)\.ts$).*\//;
    expect(ofFeatures.filter((module) => others.test(module))).to.deep.equal([]);
  });
});
