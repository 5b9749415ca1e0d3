import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { installedPlugins } from '#src/engine/pipeline/load/installed-plugins.js';

describe('installed plugins', () => {
  let root: string;
  beforeEach(async () => (root = await mkdtemp(path.join(tmpdir(), 'gw-installed-'))));
  afterEach(() => rm(root, { recursive: true }));

  const install = async (folder: string, name: string, fields: object): Promise<void> => {
    const place = path.join(folder, 'node_modules', name);
    await mkdir(place, { recursive: true });
    await writeFile(path.join(place, 'package.json'), JSON.stringify({ name, ...fields }));
  };
  const plugin = { keywords: ['gw2api-plugin'], peerDependencies: { '@gw2api/gateway': '^0.1.0' } };

  it('are the nearest packages of their names, as an import finds them', async () => {
    const inner = path.join(root, 'inner');
    await install(root, 'redact', { ...plugin, version: '1.0.0' });
    await install(root, '@acme/audit', { ...plugin, version: '1.0.0' });
    await install(root, 'shadowed', { ...plugin, version: '1.0.0' });
    await install(inner, 'redact', { ...plugin, version: '2.0.0' });
    await install(inner, 'shadowed', { version: '2.0.0' });
    const found = (await installedPlugins(inner)).filter(({ folder }) => folder.startsWith(root));
    expect(found.map(({ name, version }) => `${name} ${version}`)).to.deep.equal([
      '@acme/audit 1.0.0',
      'redact 2.0.0',
    ]);
  });
});
