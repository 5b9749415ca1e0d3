import { createHash } from 'node:crypto';
import { symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { ConfigError, formatProblem } from '#src/config/config.js';
import { doorsOf } from '#src/engine/pipeline/load/integrity/doors.js';
import { integrityOf } from '#src/engine/pipeline/load/integrity/integrity.js';
import { maxFiles } from '#src/engine/pipeline/load/integrity/package-files.js';
import { loadGatewayConfig } from '#src/gateway/load-config.js';
import { loadPlugins } from '#src/gateway/reload/loaded-config.js';
import { stages } from '../../../whole/harness.js';
import { TempFolders, writeIn, type Files } from '../../../whole/temp-folders.js';

const stage = `globalThis.loadedByIntegrityTest = true;
export default { name: 'dlp', setup: () => (ctx, next) => next() };
`;

const wrong = `sha256-${'A'.repeat(43)}=`;

describe('the integrity of a plugin', () => {
  const folders = new TempFolders();
  afterEach(() => folders.remove());

  async function hashIn(files: Files, file = 'dlp/main.mjs'): Promise<string> {
    const folder = await folders.make(files);
    return (await integrityOf(path.join(folder, file))).hash;
  }

  async function faultOf(folder: string, file = 'dlp/main.mjs'): Promise<string> {
    const error = await integrityOf(path.join(folder, file)).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    return (error as Error).message;
  }

  const files = {
    'dlp/package.json': '{}',
    'dlp/main.mjs': stage,
    'dlp/lib/Z.mjs': 'export const z = 1;',
    'dlp/lib.mjs': 'export const lib = 1;',
  };

  it('is that of the file itself where no folder has a package.json', async () => {
    const expected = `sha256-${createHash('sha256').update(stage).digest('base64')}`;
    expect(await hashIn({ 'dlp/main.mjs': stage, 'dlp/notes.txt': 'x' })).to.equal(expected);
  });

  it('covers all files of its package, in the order of their paths, by names and contents alone', async () => {
    const lines = ['lib.mjs', 'lib/Z.mjs', 'main.mjs', 'package.json'].map((name) => {
      const text = files[`dlp/${name}` as keyof typeof files];
      return `${name}\0${createHash('sha256').update(text).digest('hex')}\n`;
    });
    const hash = await hashIn(files);
    expect(hash).to.equal(`sha256-${createHash('sha256').update(lines.join('')).digest('base64')}`);
    const folder = await folders.make(files);
    await utimes(path.join(folder, 'dlp/main.mjs'), 1, 1);
    expect((await integrityOf(path.join(folder, 'dlp/main.mjs'))).hash).to.equal(hash);
  });

  it('changes with each file and each name, and with no dependency', async () => {
    const hash = await hashIn(files);
    expect(await hashIn({ ...files, 'dlp/lib.mjs': 'export const lib = 2;' })).not.to.equal(hash);
    expect(await hashIn({ ...files, 'dlp/new.mjs': '' })).not.to.equal(hash);
    expect(await hashIn({ ...files, 'dlp/node_modules/a/index.js': 'x', 'dlp/.git/HEAD': 'x' })).to.equal(
      hash,
    );
  });

  it('follows a link to the plugin, and refuses one that leads out of the package', async () => {
    const folder = await folders.make({ ...files, 'secret.txt': 'x' });
    const { hash } = await integrityOf(path.join(folder, 'dlp/main.mjs'));
    await symlink(path.join(folder, 'dlp'), path.join(folder, 'linked'));
    expect((await integrityOf(path.join(folder, 'linked/main.mjs'))).hash).to.equal(hash);
    await symlink('lib.mjs', path.join(folder, 'dlp/same.mjs'));
    expect((await integrityOf(path.join(folder, 'dlp/main.mjs'))).hash).not.to.equal(hash);
    await symlink('../secret.txt', path.join(folder, 'dlp/out.txt'));
    expect(await faultOf(folder)).to.equal(
      'has the link out.txt, which leads out of the package, where nothing is hashed',
    );
  });

  it('tells a link from another one whose name or target has line breaks', async () => {
    const links = [
      { link: 'x', file: 's\nt' },
      { link: 'x\ns', file: 't' },
    ];
    const hashes = await Promise.all(
      links.map(async ({ link, file }) => {
        const texts = {
          'dlp/package.json': '{}',
          'dlp/main.mjs': stage,
          'dlp/x': 'good',
          'dlp/x\ns': 'evil',
        };
        const folder = await folders.make({ ...texts, [`dlp/${file}`]: '' });
        await symlink(link, path.join(folder, 'dlp/r'));
        return (await integrityOf(path.join(folder, 'dlp/main.mjs'))).hash;
      }),
    );
    expect(hashes[0]).not.to.equal(hashes[1]);
  });

  it('is refused where its package also has the config, whose own text it would be in', async () => {
    const folder = await folders.make({ 'package.json': '{}', 'dlp.mjs': stage });
    const refused = await integrityOf(path.join(folder, 'dlp.mjs'), path.join(folder, 'config')).catch(
      String,
    );
    expect(refused).to.include(
      'its package also has the config; give the plugin a folder with a package.json of its own',
    );
  });

  it('is refused for imports of folders that it leaves out', async () => {
    for (const file of ['./node_modules/e.mjs', './.git/e.mjs', '../other/e.mjs']) {
      const at = path.posix.join('node_modules/dlp', file);
      const folder = await folders.make({
        'node_modules/dlp/package.json': '{}',
        'node_modules/dlp/main.mjs': `import '${file}';`,
        [at]: '',
      });
      expect(await faultOf(folder, 'node_modules/dlp/main.mjs')).to.include(
        'which its package does not cover',
      );
    }
  });

  it('is refused for code outside of what it covers, and for a folder that is no package of a plugin', async () => {
    const alone = await folders.make({ 'dlp/main.mjs': "import './lib.mjs';", 'dlp/lib.mjs': '' });
    expect(await faultOf(alone)).to.include('imports lib.mjs, which the hash of one file does not cover');
    const outside = await folders.make({ ...files, 'dlp/main.mjs': "import '../a.mjs';", 'a.mjs': '' });
    expect(await faultOf(outside)).to.include('imports ../a.mjs, which its package does not cover');
    const many = Array.from({ length: maxFiles + 1 }, (_, at) => [`dlp/f${at}.txt`, ''] as const);
    const large = await folders.make({ ...files, ...Object.fromEntries(many) });
    expect(await faultOf(large)).to.include(`has more than ${maxFiles} files and folders`);
  });

  it('covers 64 MB, also of a file without a package, and is refused beyond', async () => {
    const maxBytes = 64 * 2 ** 20;
    const folder = await folders.make({ 'dlp/package.json': '{}', 'dlp/main.mjs': stage, 'alone.mjs': '' });
    const [data, alone] = [path.join(folder, 'dlp/data.bin'), path.join(folder, 'alone.mjs')];
    const room = maxBytes - Buffer.byteLength(stage) - '{}'.length;
    await writeFile(data, '');
    await truncate(data, room);
    expect((await integrityOf(path.join(folder, 'dlp/main.mjs'))).hash).to.match(/^sha256-/);
    await truncate(data, room + 1);
    expect(await faultOf(folder)).to.equal(
      'is larger than 64 MB together with package.json; give the plugin a folder of its own with a package.json',
    );
    await truncate(alone, maxBytes + 1);
    expect(await faultOf(folder, 'alone.mjs')).to.match(/^is larger than 64 MB together with alone\.mjs; /);
  });

  it('holds for stages, formats, upstreams and accounts, whose modules are not imported with another hash', async () => {
    const folder = await folders.make({ 'dlp.mjs': stage });
    const pinned = { use: './dlp.mjs', integrity: wrong };
    const text = stringify({
      pipeline: [...stages(), pinned, { oneOf: [pinned] }],
      formats: ['messages', pinned],
      slots: [
        {
          id: 'a',
          upstream: './dlp.mjs',
          integrity: wrong,
          baseUrl: 'https://a.example',
          account: { kind: './dlp.mjs', integrity: wrong },
        },
      ],
    });
    const config = await loadGatewayConfig({ text, file: 'gateway.yaml', env: {}, baseDir: folder }).catch(
      (error: unknown) => error,
    );
    const refused = config instanceof ConfigError ? config : await refusalOf(config);
    const { hash } = await integrityOf(path.join(folder, 'dlp.mjs'));
    const lines = refused.problems.filter(({ path: at }) => at.endsWith('integrity')).map(formatProblem);
    expect(lines).to.have.lengthOf(5);
    for (const line of lines)
      expect(line)
        .to.match(/^gateway\.yaml:\d+:\d+ (pipeline|formats|slots)\S+integrity: is sha256-A+=, but/)
        .and.include(`the code in dlp.mjs is ${hash}; if you trust it as it is, write that`)
        .and.include('`gw2api plugins` prints');
    expect(globalThis).not.to.have.property('loadedByIntegrityTest');
  });

  it('lets a plugin with the right hash be loaded, until its code changes', async () => {
    const code = "export default { name: 'dlp', setup: () => (ctx, next) => next() };";
    const folder = await folders.make({ 'dlp.mjs': code });
    const { hash: integrity } = await integrityOf(path.join(folder, 'dlp.mjs'));
    const load = async () => {
      const text = stringify({
        pipeline: [...stages(), { use: './dlp.mjs', integrity }],
        slots: [{ id: 'a', upstream: 'simulator' }],
      });
      return loadPlugins(await loadGatewayConfig({ text, file: 'gateway.yaml', env: {}, baseDir: folder }));
    };
    expect((await load()).stages.at(-1)?.name).to.equal('dlp');
    await writeIn(folder, 'dlp.mjs', `${code}\n`);
    const refused = await load().catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(ConfigError);
  });

  it('is refused for a built-in', async () => {
    const text = stringify({
      pipeline: [{ use: 'auth', integrity: wrong }, ...stages({ without: ['auth'] })],
      slots: [{ id: 'a', upstream: 'simulator' }],
    });
    const refused = await refusalOf(await loadGatewayConfig({ text, file: 'gateway.yaml', env: {} }));
    expect(refused.message).to.include(
      'pipeline[0].integrity: is for plugins from outside, and "auth" is a part of the gateway; remove it',
    );
  });

  it('stands beside the public modules that the code imports', async () => {
    const folder = await folders.make({
      'dlp/main.mjs': "import { a } from '@gw2api/gateway/plugin';\nimport './raw.mjs';\nimport 'node:fs';",
      'dlp/raw.mjs': "export * from '@gw2api/gateway/plugin/raw'; import('gw2api/plugin');",
    });
    const doors = doorsOf(path.join(folder, 'dlp/main.mjs'), path.join(folder, 'dlp'));
    expect(doors).to.deep.equal(['plugin', 'plugin/raw']);
  });
});

async function refusalOf(config: unknown): Promise<ConfigError> {
  const error: unknown = await loadPlugins(config as Parameters<typeof loadPlugins>[0]).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).to.be.instanceOf(ConfigError);
  return error as ConfigError;
}
