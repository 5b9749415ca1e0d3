import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { ConfigWatch } from '#src/cli/serve/config-watch.js';
import { logRefusal } from '#src/cli/serve/signals.js';
import type { Clock } from '#src/plugin/index.js';
import { makeCertificate } from '../whole/certificates.js';
import { configOf, startGateway, type GatewayUnderTest } from '../whole/harness.js';
import { TempFolders, writeIn } from '../whole/temp-folders.js';

/** A clock whose timers the test runs. */
class ManualClock implements Clock {
  readonly #timers = new Map<() => void, number>();
  readonly now = () => 0;
  readonly monotonicMs = () => 0;
  readonly setTimer = (callback: () => void, ms: number) => {
    this.#timers.set(callback, ms);
    return () => void this.#timers.delete(callback);
  };

  /** Delays of the timers. */
  get delays(): readonly number[] {
    return [...this.#timers.values()];
  }

  fire(): void {
    const due = [...this.#timers.keys()];
    this.#timers.clear();
    for (const callback of due) callback();
  }
}

describe('reload: { watch: true }', function () {
  this.timeout(30_000);
  const folders = new TempFolders();
  let folder: string;
  let file: string;
  let under: GatewayUnderTest;
  let looks: ConfigWatch;
  let clock: ManualClock;
  let closing: AbortController;
  let reloads: number;

  const slot = (settings: object = {}) => ({
    id: 'a',
    upstream: 'messages',
    baseUrl: 'https://127.0.0.1:9',
    account: { kind: 'api-key', key: '${file:secrets/key}' },
    ...settings,
  });
  const catalog = (maxTokens: number) => stringify({ models: [{ id: 'sonnet-5', maxTokens }] });
  const config = (settings: object = {}) =>
    stringify(configOf({ models: 'models.yaml', slots: [slot()], reload: { watch: true }, ...settings }));

  before(async () => {
    folder = await folders.make({ 'models.yaml': catalog(1000), 'secrets/key': 'key-1' });
    await makeCertificate(folder, 'one', 'one.test');
    await makeCertificate(folder, 'two', 'two.test');
    await rename(path.join(folder, 'one.crt'), path.join(folder, 'ca.crt'));
  });
  beforeEach(async () => {
    file = path.join(folder, 'gateway.yaml');
    await writeFile(file, config({ slots: [slot({ tls: { ca: 'ca.crt' } })] }));
    under = await startGateway(file);
    reloads = 0;
    closing = new AbortController();
    clock = new ManualClock();
    looks = await ConfigWatch.open(file, {});
    looks.start({ clock, signal: closing.signal, reload });
  });
  afterEach(async () => {
    closing.abort();
    await under.close();
  });
  after(() => folders.remove());

  const reload = async () => {
    reloads += 1;
    await under.gateway.reload().then(() => undefined, logRefusal(under.gateway.services.log));
  };
  const look = async (times = 1) => {
    for (let at = 0; at < times; at += 1) {
      clock.fire();
      await looks.settled();
    }
  };
  const limit = () => under.gateway.runtime.config.models[0]!.maxTokens;
  const refusals = () => under.logged.filter(({ msg }) => String(msg).includes('The new config was refused'));

  it('looks each 5 s, and takes nothing where nothing has changed', async () => {
    for (const _ of [1, 2, 3]) {
      expect(clock.delays).to.deep.equal([5000]);
      await look();
    }
    expect(reloads).to.equal(0);
  });

  it('takes a change once two looks in a row have found it', async () => {
    await writeIn(folder, 'models.yaml', catalog(2000));
    await look();
    await writeIn(folder, 'models.yaml', catalog(3000));
    await look();
    expect([reloads, limit()]).to.deep.equal([0, 1000]);
    await look();
    expect([reloads, limit()]).to.deep.equal([1, 3000]);
    await look(3);
    expect(reloads).to.equal(1);
  });

  it('takes nothing where a change was taken back before the second look', async () => {
    await writeIn(folder, 'secrets/key', 'key-2');
    await look();
    await writeIn(folder, 'secrets/key', 'key-1');
    await look(3);
    expect(reloads).to.equal(0);
  });

  it('sees secrets and files of TLS', async () => {
    await writeIn(folder, 'secrets/key', 'key-3');
    await look(2);
    expect(reloads).to.equal(1);
    expect(under.gateway.runtime.config.slots[0]!.account).to.include({ key: 'key-3' });
    const before = under.gateway.runtime.config.slots[0]!.tls!.shown['ca'];
    await rename(path.join(folder, 'two.crt'), path.join(folder, 'ca.crt'));
    await look(2);
    expect(reloads).to.equal(2);
    expect(under.gateway.runtime.config.slots[0]!.tls!.shown['ca']).to.not.equal(before);
  });

  it('watches the files that a new config names', async () => {
    await writeIn(folder, 'other.yaml', catalog(4000));
    await writeFile(file, config({ models: 'other.yaml' }));
    await look(2);
    expect([reloads, limit()]).to.deep.equal([1, 4000]);
    await writeIn(folder, 'other.yaml', catalog(5000));
    await look(2);
    expect([reloads, limit()]).to.deep.equal([2, 5000]);
  });

  it('tells once why a config is refused, and takes the next one', async () => {
    await writeFile(file, config({ pipeline: [{ use: 'nothing' }] }));
    await look(5);
    expect(reloads).to.equal(1);
    expect(refusals()).to.have.length(1);
    expect(String(refusals()[0]!['problems'])).to.include('nothing');
    await rm(file);
    await look(3);
    expect(refusals()).to.have.length(2);
    await writeFile(file, config({ log: { access: false } }));
    await look(2);
    expect(under.gateway.runtime.config.log.access).to.equal(false);
  });

  it('ends with the gateway', async () => {
    closing.abort();
    expect(clock.delays).to.deep.equal([]);
  });
});

describe('reload: { watch: true } over a ConfigMap', () => {
  const folders = new TempFolders();
  after(() => folders.remove());

  it('takes what an exchange of its link has brought', async () => {
    const folder = await folders.make();
    const versions = ['..1', '..2'];
    for (const [at, name] of versions.entries()) {
      await mkdir(path.join(folder, name));
      const models = stringify({ models: [{ id: 'sonnet-5', maxTokens: 1000 * (at + 1) }] });
      await writeIn(folder, `${name}/models.yaml`, models);
      const slots = [{ id: 'a', upstream: 'simulator' }];
      await writeIn(folder, `${name}/gateway.yaml`, stringify(configOf({ slots, models: 'models.yaml' })));
    }
    await symlink(versions[0]!, path.join(folder, '..data'));
    for (const name of ['gateway.yaml', 'models.yaml'])
      await symlink(`..data/${name}`, path.join(folder, name));
    const file = path.join(folder, 'gateway.yaml');
    const under = await startGateway(file);
    const clock = new ManualClock();
    const closing = new AbortController();
    const watch = await ConfigWatch.open(file, {});
    const reload = async () => void (await under.gateway.reload());
    watch.start({ clock, signal: closing.signal, reload });
    await symlink(versions[1]!, path.join(folder, '..data_tmp'));
    await rename(path.join(folder, '..data_tmp'), path.join(folder, '..data'));
    for (const _ of [1, 2]) {
      clock.fire();
      await watch.settled();
    }
    expect(under.gateway.runtime.config.models[0]!.maxTokens).to.equal(2000);
    closing.abort();
    await under.close();
  });
});
