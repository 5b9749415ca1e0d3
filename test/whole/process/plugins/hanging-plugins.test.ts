import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../../eventually.js';
import { configOf, slotAt, stages, startGateway, type GatewayUnderTest } from '../../harness.js';
import { PanelClient } from '../../console/panel-client.js';
import { ProcessWorkshop } from '../../gateway-process.js';
import { hanging, never, yaml } from './hanging-plugins.js';
import { TempFolders, writeIn } from '../../temp-folders.js';

describe('a process whose plugin hangs', function () {
  this.timeout(90_000);
  const workshop = new ProcessWorkshop();
  afterEach(() => workshop.end());

  it('only when it starts is not found by check, which starts nothing', async () => {
    const cwd = await workshop.folder({ ...hanging, 'gateway.yaml': yaml('./start.mjs') });
    const args = ['check', '--config', 'gateway.yaml'];
    const { code, stderr } = await workshop.run({
      cwd,
      env: { GW2API_API_KEY: 'a key of some length' },
      args,
    });
    expect([code, stderr]).to.deep.equal([0, '']);
  });

  it('ends on SIGTERM while a reload waits for it', async () => {
    const cwd = await workshop.folder({ ...hanging, 'gateway.yaml': yaml('./good.mjs'), 'good.mjs': good });
    const told = `import { writeFileSync } from 'node:fs'; writeFileSync('began', '');`;
    await writeFile(path.join(cwd, 'hangs.mjs'), `${told} await ${never};`);
    const gateway = await workshop.start({
      cwd,
      env: { GW2API_API_KEY: 'k' },
      args: ['--config', 'gateway.yaml'],
    });
    await gateway.url();
    await writeFile(path.join(cwd, 'gateway.yaml'), yaml('./hangs.mjs'));
    gateway.signal('SIGHUP');
    await eventually(() => existsSync(path.join(cwd, 'began')));
    gateway.signal('SIGTERM');
    expect(await gateway.ended).to.include({ code: 0, signal: null });
  });
});

const good = 'export default () => (ctx, next) => next();';

describe('a reload of a plugin that hangs', () => {
  const folders = new TempFolders();
  let folder: string;
  let under: GatewayUnderTest;
  afterEach(async () => {
    await under.close();
    await folders.remove();
  });

  async function start(pluginTimeoutMs: number): Promise<void> {
    folder = await folders.make(hanging);
    await write();
    const options = { pluginTimeoutMs, secretKey: 'a secret for tests' };
    under = await startGateway(`${folder}/gateway.yaml`, {}, Date.now, options);
  }

  async function write(...plugins: readonly string[]): Promise<void> {
    const pipeline = [...plugins.map((use) => ({ use })), ...stages()];
    const slots = [slotAt('http://127.0.0.1:9')];
    await writeIn(folder, 'gateway.yaml', configOf({ slots, pipeline }));
  }

  async function reload(): Promise<{ readonly status: number; readonly text: string }> {
    const answer = await under.post('/admin/reload', {});
    return { status: answer.status, text: await answer.text() };
  }

  for (const [file, says] of [
    ['setup.mjs', /pipeline\[0\] \\"hangs\\" was not set up within 2 s/],
    ['start.mjs', /pipeline\[0\] \\"hangs\\" did not start within 2 s/],
    ['import.mjs', /pipeline\[0\]\.use \\".\/import\.mjs\\" did not load within 2 s/],
  ] as const)
    it(`is refused with its name and line, and the next one is taken: ${file}`, async () => {
      await start(2000);
      await write(`./${file}`);
      const { status, text } = await reload();
      expect(status).to.equal(400);
      expect(text)
        .to.match(/gateway\.yaml:1:\d+ /)
        .and.match(says);
      await write();
      expect(await reload()).to.include({ status: 200 });
    });

  it('tells of one that does not dispose, and the new config runs', async () => {
    await start(2000);
    await write('./dispose.mjs');
    expect(await reload()).to.include({ status: 200 });
    const old = under.gateway.runtime.pipeline;
    await write();
    expect(await reload()).to.include({ status: 200 });
    await old.retire();
    const line = under.logged.find(({ msg }) => msg === 'A stage could not be disposed.');
    expect(line?.['stage']).to.equal('hangs');
    expect(line?.['problem']).to.match(/gateway\.yaml:1:\d+ pipeline\[0\] "hangs" was not disposed/);
    expect(await reload()).to.include({ status: 200 });
  });

  it('keeps neither a slot of the console nor the end of the gateway waiting', async () => {
    await start(3_600_000);
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => void (letGo = resolve));
    Object.assign(globalThis, { held });
    await writeIn(
      folder,
      'held.mjs',
      'export default () => globalThis.held.then(() => (ctx, next) => next());',
    );
    await write('./held.mjs');
    const hangs = reload();
    const after = reload();
    const panel = new PanelClient(under.url);
    const slot = { id: 'mine', upstream: 'simulator' };
    expect((await panel.fetch('POST', '/slots', slot)).status).to.equal(201);
    expect(under.gateway.services.slots.list().map(({ id }) => id)).to.deep.equal(['a', 'mine']);
    await under.close();
    for (const { status, text } of [await hangs, await after]) {
      expect(status).to.equal(503);
      expect(text).to.include('shutting_down');
    }
    letGo(); // every set-up that has begun or will begin: else its timer would keep the tests from ending
  });
});
