import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { features } from '#src/features/index.js';
import { masterKey } from '../whole/harness.js';

describe('the features of a gateway', () => {
  it('have names of their own', () => {
    const names = features.map(({ name }) => name);
    expect(new Set(names).size).to.equal(names.length);
  });

  it('load their routes by the first request to one of their kind', async () => {
    const [atStart = '', byScripts = '', byConsole = ''] = (await loadedModules()).split('asked\n');
    const routes = (lines: string) => lines.match(/features\/\w+\/(?:admin|panel)\.js/g) ?? [];
    const modules = (kind: 'admin' | 'panel') =>
      features.filter((each) => each[kind]).map(({ name }) => `features/${name}/${kind}.js`);
    expect(atStart).to.include('operator/operators.js');
    expect(routes(atStart)).to.deep.equal([]);
    expect(routes(byScripts)).to.have.members(modules('admin'));
    expect(routes(byConsole)).to.have.members(modules('panel'));
  });
});

/** Modules that a gateway loads, one a line, with a line `asked` before each of two requests to its operators' APIs. */
async function loadedModules(): Promise<string> {
  const hooks = `
    import { writeSync } from 'node:fs';
    export async function load(url, context, next) {
      writeSync(1, url + '\\n');
      return next(url, context);
    }`;
  const program = `
    import { register } from 'node:module';
    import { writeSync } from 'node:fs';
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hooks)}));
    const { createGateway } = await import(${JSON.stringify(new URL('../../index.js', import.meta.url).href)});
    const config = {
      listen: { port: 0 },
      store: 'memory',
      models: './config/models.yaml',
      pipeline: ['auth', 'body-limit', 'format-decode', 'slot-pick', 'upstream-call', 'format-encode'].map((use) => ({ use })),
      slots: [{ id: 'a', upstream: 'simulator', models: ['sonnet-5'] }],
    };
    const gateway = await createGateway(config, { masterKey: ${JSON.stringify(masterKey)}, logLevel: 'silent' });
    const url = await gateway.listen();
    for (const path of ['/health', '/admin/slots', '/api/panel/session']) {
      if (path !== '/health') writeSync(1, 'asked\\n');
      const { status } = await fetch(url + path, { headers: { 'x-api-key': ${JSON.stringify(masterKey)} } });
      if (status !== 200) throw new Error(path + ': ' + status);
    }
    await gateway.close();`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return text(child.stdout);
}
