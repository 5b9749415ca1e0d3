import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { startSimulator } from '#plugins/upstreams/simulator/simulator.js';
import { ProcessWorkshop } from '../whole/gateway-process.js';
import { ask, configOf, masterKey, slotAt } from '../whole/harness.js';

/** Modules of features that the config below leaves off, and of those that no request has asked for. */
const off = [
  'cache-ledger/',
  'canary/canary.js',
  'canary/local-canary.js',
  'dry-run/',
  'explain/explain-thread.js',
  'explain/explanations.js',
  'opentelemetry/',
  'playground/',
  'replay/',
  'requests/kept-error-texts.js',
  'websockets/',
];

interface Loaded {
  /** Modules of `dist`. */
  readonly own: readonly string[];
  readonly packages: readonly string[];
}

/** Modules that a process has loaded, by the coverage that V8 has written at its end. */
async function loadedIn(folder: string): Promise<Loaded> {
  const modules = new Set<string>();
  for (const file of await readdir(folder)) {
    const { result } = JSON.parse(await readFile(path.join(folder, file), 'utf8')) as {
      readonly result: readonly { readonly url: string }[];
    };
    for (const { url } of result) modules.add(url);
  }
  const dist = new URL('../..', import.meta.url).href;
  return {
    own: [...modules].filter((url) => url.startsWith(dist)).map((url) => url.slice(dist.length)),
    packages: [...modules].filter((url) => url.includes('/node_modules/')),
  };
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
    const cwd = await workshop.folder({ 'gateway.yaml': stringify(config) });
    const coverage = path.join(cwd, 'coverage');
    const env = { NODE_V8_COVERAGE: coverage, GW2API_API_KEY: masterKey };
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
    const { own: loaded, packages } = await loadedIn(coverage);
    expect(packages.filter((url) => url.includes('/undici/'))).not.to.deep.equal([]);
    // prom-client imports the API.
    expect(packages.filter((url) => /@opentelemetry\/(?!api\/)/.test(url))).to.deep.equal([]);
    expect(loaded).to.include.members(['server.js', 'features/metrics/request-metrics.js']);
    const ofFeatures = loaded
      .filter((module) => module.startsWith('features/') && !/\/(?:index|extension)\.js$/.test(module))
      .map((module) => module.slice('features/'.length));
    expect(ofFeatures.filter((module) => off.some((part) => module.startsWith(part)))).to.deep.equal([]);
  });

  it('is not loaded by the verb of another one', async () => {
    const cwd = await workshop.folder({});
    const coverage = path.join(cwd, 'coverage');
    const { code } = await workshop.spawn({ args: ['replay'], cwd, env: { NODE_V8_COVERAGE: coverage } });
    expect(code).to.equal(2);
    const { own } = await loadedIn(coverage);
    const ofFeatures = own.filter((module) => module.startsWith('features/'));
    expect(ofFeatures).to.include('features/replay/verb/command.js');
    const others = /^features\/(?!replay\/|dry-run\/)(?!.*\/(?:index|extension)\.js$).*\//;
    expect(ofFeatures.filter((module) => others.test(module))).to.deep.equal([]);
  });
});
