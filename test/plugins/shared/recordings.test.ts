import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { fakeHost } from '@gw2api/gateway/testing';
import { createCipher } from '#src/state/store/credential-cipher.js';
import { clockAt } from '../../clock-at.js';
import {
  Recordings,
  requireKey,
  type Recording,
  type RecordingsOptions,
} from '#plugins/shared/recordings.js';
import { recordedIn } from './recorded.js';

function recording(atMs: number, text = ''): Recording {
  return {
    version: 1,
    atMs,
    requestId: `../${atMs}`,
    method: 'POST',
    url: '/v1/messages',
    format: 'messages',
    caller: { kind: 'master', keyId: 'master', name: 'master' },
    headers: {},
    passed: [],
    body: { text },
    outcome: 'completed',
  };
}

describe('recordings', () => {
  const { secrets } = fakeHost();
  let folder = '';
  let nowMs = 1_000_000;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'gw2api-'));
  });
  afterEach(async () => {
    await recordings?.close();
    results = [];
    await rm(folder, { recursive: true });
  });

  let recordings: Recordings | undefined;
  let results: unknown[] = [];
  const base = (): RecordingsOptions => ({
    folder,
    secrets,
    keepMs: 1000,
    maxBytes: 1e6,
    maxBodyChars: 2000,
    clock: clockAt(() => nowMs),
    onResult: (result, error) => void results.push(error ?? result),
  });
  const open = async (bounds: { readonly keepMs?: number; readonly maxBytes?: number } = {}) => {
    recordings = new Recordings({ ...base(), ...bounds });
    await recordings.open();
  };
  /** Writes recordings, one after another. */
  const write = async (...list: readonly Recording[]): Promise<void> => {
    for (const each of list) recordings!.add(each);
    await recordings!.close();
  };
  const times = async () => (await recordedIn(folder, secrets)).map(({ atMs }) => atMs);

  it('come back as they were written, the oldest first', async () => {
    await open();
    await write(recording(1_000_002, 'two'));
    await write(recording(1_000_001, 'one'));
    const [one, two, ...rest] = await recordedIn(folder, secrets);
    expect([one, two]).to.deep.equal([recording(1_000_001, 'one'), recording(1_000_002, 'two')]);
    expect(rest).to.deep.equal([]);
  });

  it('cannot be read without the key', async () => {
    await open();
    await write(recording(nowMs, 'a secret text'));
    const [file] = await readdir(folder);
    const sealed = await readFile(path.join(folder, file!), 'utf8');
    expect(sealed)
      .not.to.include('secret')
      .and.not.to.include(Buffer.from('a secret').toString('base64url').slice(2, 8));
    const reading = recordedIn(folder, createCipher('another key'));
    expect(await reading.catch(String)).to.match(/GW_SECRET_KEY is not the one that a recording/);
  });

  it('are not begun without a key', async () => {
    expect(await requireKey(createCipher(undefined)).catch(String)).to.match(/GW_SECRET_KEY is not set/);
  });

  it('are readable by nobody else, in a folder that is closed to others', async () => {
    await chmod(folder, 0o755);
    await open();
    await write(recording(nowMs));
    const [file] = await readdir(folder);
    const modes = await Promise.all(
      [folder, path.join(folder, file!)].map(async (name) => (await stat(name)).mode),
    );
    expect(modes.map((mode) => (mode & 0o777).toString(8))).to.deep.equal(['700', '600']);
  });

  it('are refused at once where the file system takes no folders', async () => {
    for (const taken of ['/proc/recorded', '/proc/data/recorded']) {
      const recorded = new Recordings({ ...base(), folder: taken });
      expect(await recorded.open().catch(({ code }: NodeJS.ErrnoException) => code)).to.equal('ENOENT');
    }
  });

  it('make the folders above theirs', async () => {
    const deep = path.join(folder, 'a/b/c');
    const recorded = new Recordings({ ...base(), folder: deep });
    await recorded.open();
    await recorded.close();
    expect((await stat(deep)).mode & 0o777).to.equal(0o700);
  });

  it('are not written before the stage has started', async () => {
    recordings = new Recordings(base());
    await write(recording(nowMs));
    expect(await readdir(folder)).to.deep.equal([]);
    expect(results).to.deep.equal([]);
  });

  it('tell what became of them', async () => {
    await open();
    await write(recording(nowMs, 'x'.repeat(3000)), ...Array.from({ length: 33 }, () => recording(nowMs)));
    expect(results.filter((result) => result === 'too_large')).to.have.length(1);
    expect(results.filter((result) => result === 'dropped')).to.have.length(1);
    expect(results.filter((result) => result === 'written')).to.have.length(32);
    await rm(folder, { recursive: true });
    await write(recording(nowMs));
    expect(results.at(-1)).to.have.property('code', 'ENOENT');
    await mkdir(folder);
  });

  it('are dropped while many characters wait for the disk', async () => {
    recordings = new Recordings({ ...base(), maxBytes: 1e9, maxBodyChars: 2e7 });
    await recordings.open();
    const large = 'x'.repeat(15_000_000);
    await write(...Array.from({ length: 3 }, () => recording(nowMs, large)));
    expect(results.map(String).toSorted()).to.deep.equal(['dropped', 'written', 'written']);
  });

  it('are deleted once they are too old', async () => {
    await open();
    await write(recording(nowMs));
    await write(recording(nowMs + 500));
    nowMs += 1200;
    await recordings!.prune();
    expect(await times()).to.deep.equal([nowMs - 700]);
  });

  it('never take more than their size, the oldest going first', async () => {
    await open({ maxBytes: 20_000 });
    for (let at = 0; at < 40; at += 1) {
      await write(recording(nowMs + at, 'x'.repeat(900)));
      const files = await readdir(folder);
      const bytes = await Promise.all(
        files.map(async (file) => (await readFile(path.join(folder, file))).length),
      );
      expect(bytes.reduce((sum, each) => sum + each)).to.be.below(20_000 + 2000);
    }
    const kept = await times();
    expect(kept.at(-1)).to.equal(nowMs + 39);
    expect(kept).to.have.length.within(5, 20);
  });
});
