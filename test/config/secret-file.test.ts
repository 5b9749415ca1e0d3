import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { ConfigError } from '#src/config/config.js';
import { loadConfig } from '#src/config/load.js';

describe('a secret from a file', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'gw2api-test-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** The key of the one slot of a config in `folder`, or what is wrong with it. */
  function keyOf(written: string): unknown {
    const slot = `{ id: a, upstream: messages, baseUrl: "http://u", account: { kind: api-key, key: "${written}" } }`;
    const text = `pipeline: [{ use: auth }]\nslots:\n  - ${slot}\n`;
    const file = path.join(folder, 'gateway.yaml');
    try {
      const { account } = loadConfig({ text, file, env: { file: 'of-the-environment' } }).slots[0]!;
      return account?.['key'];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return error.message.replaceAll(`${folder}/`, '');
    }
  }

  it('is its text, without the line ends at its end, by an absolute or a relative path', async () => {
    await mkdir(path.join(folder, 'secrets'));
    await writeFile(path.join(folder, 'secrets/one'), 'sk-one');
    await writeFile(path.join(folder, 'secrets/two'), 'sk-two\n');
    await writeFile(path.join(folder, 'secrets/three'), 'sk three\r\n\n');
    expect(keyOf('${file:secrets/one}')).to.equal('sk-one');
    expect(keyOf('${file:./secrets/two}')).to.equal('sk-two');
    expect(keyOf(`\${file:${folder}/secrets/three}`)).to.equal('sk three');
    expect(keyOf('a ${file:secrets/one} b ${file:secrets/two}')).to.equal('a sk-one b sk-two');
  });

  it('is never looked into for variables', async () => {
    await writeFile(path.join(folder, 'one'), '${HOME} ${file:one}');
    expect(keyOf('${file:one}')).to.equal('${HOME} ${file:one}');
  });

  it('leaves a variable of the name "file" alone', () => {
    expect(keyOf('${file}')).to.equal('of-the-environment');
    expect(keyOf('${file:-default}')).to.equal('of-the-environment');
    expect(keyOf('$${file:one}')).to.equal('${file:one}');
  });

  it('that cannot be had is a problem with its place', async () => {
    await writeFile(path.join(folder, 'empty'), '\n');
    await writeFile(path.join(folder, 'large'), 'x'.repeat(64 * 1024 + 1));
    await writeFile(path.join(folder, 'binary'), Buffer.from([0xff, 0xfe, 0x00]));
    for (const [file, says] of [
      ['nowhere', 'the file nowhere is not there'],
      ['empty', 'the file empty is empty'],
      ['large', 'the file large is larger than 64 kB'],
      ['binary', 'the file binary is not text in UTF-8'],
      ['.', '. is not a file'],
      ['/dev/zero', '/dev/zero is not a file'],
    ])
      expect(String(keyOf(`\${file:${file}}`)).split('\n')).to.include(
        `gateway.yaml:3:81 slots[0].account.key: ${says}`,
      );
  });
});
