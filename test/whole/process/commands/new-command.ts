import { execFile } from 'node:child_process';
import { mkdir, readdir, rename, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { packageName } from '#src/kit/version.js';
import { ProcessWorkshop, type Ended } from '../../gateway-process.js';
import { stages } from '../../harness.js';
import { TempFolders, writeIn } from '../../temp-folders.js';

const run = promisify(execFile);

export const kinds = ['stage', 'format', 'upstream', 'account'] as const;

type Kind = (typeof kinds)[number];

/** A config that lists a plugin of each kind. */
const listings: Readonly<Record<Kind, (use: string) => object>> = {
  stage: (use) => ({ pipeline: [...stages().slice(0, 3), { use }, ...stages().slice(3)] }),
  format: (use) => ({ formats: ['messages', use] }),
  upstream: (use) => ({ slots: [{ id: 'a', upstream: use, baseUrl: 'http://127.0.0.1:9' }] }),
  account: (use) => ({
    slots: [
      {
        id: 'a',
        upstream: 'messages',
        baseUrl: 'http://127.0.0.1:9',
        account: { kind: use, team: 'red', key: 'test-key-1' },
      },
    ],
  }),
};

/** Folders beside the packed gateway, in which `gw2api new` writes plugins. */
export class NewWorkshop {
  readonly #workshop = new ProcessWorkshop();
  readonly #folders = new TempFolders();
  /** `node_modules` of a folder in which the packed gateway is installed. */
  #modules = '';

  /** Packs and installs the gateway. */
  async install(): Promise<void> {
    const folder = await this.#folders.make();
    await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: path.resolve('.') });
    const file = (await readdir(folder)).find((name) => name.endsWith('.tgz'));
    await run('tar', ['-xzf', file!], { cwd: folder });
    const modules = path.join(folder, 'node_modules');
    await mkdir(modules);
    for (const name of await readdir('node_modules'))
      if (!name.startsWith('.')) await symlink(path.resolve('node_modules', name), path.join(modules, name));
    await mkdir(path.dirname(path.join(modules, packageName)));
    await rename(path.join(folder, 'package'), path.join(modules, packageName));
    this.#modules = modules;
  }

  /** A new folder with these files and the installed packages in it. */
  async folder(files: Readonly<Record<string, string>> = {}): Promise<string> {
    const folder = await this.#workshop.folder(files);
    await symlink(this.#modules, path.join(folder, 'node_modules'));
    return folder;
  }

  /** Runs `gw2api`. */
  run(cwd: string, ...args: readonly string[]): Promise<Ended> {
    return this.#workshop.run({ cwd, args });
  }

  /** Runs `gw2api new` in a folder of its own. */
  async write(...args: readonly string[]): Promise<Ended & { readonly cwd: string }> {
    const cwd = await this.folder();
    return { cwd, ...(await this.run(cwd, 'new', ...args)) };
  }

  /** Runs tests that `gw2api new` has written, in one process: to start one takes a second. */
  async pass(cwd: string, files: readonly string[]): Promise<void> {
    const mocha = path.join(this.#modules, 'mocha/bin/mocha.js');
    const { stdout } = await run(process.execPath, [mocha, ...files], { cwd });
    const [, count] = /^ {2}(\d+) passing/m.exec(stdout)!;
    expect(Number(count), stdout).to.be.at.least(files.length);
    expect(stdout).not.to.include('failing');
  }

  async compile(cwd: string, args: readonly string[]): Promise<void> {
    await run(process.execPath, [path.join(this.#modules, 'typescript/bin/tsc'), ...args], { cwd });
  }

  async isListed(cwd: string, kind: Kind, use: string): Promise<void> {
    const base = { pipeline: stages(), slots: [{ id: 'a', upstream: 'simulator' }], store: 'memory' };
    await writeIn(cwd, 'gateway.yaml', { ...base, ...listings[kind](use) });
    const { code, stderr } = await this.run(cwd, 'check', '--config', 'gateway.yaml');
    expect([code, stderr]).to.deep.equal([0, '']);
  }

  /** Removes what a test has written. */
  async clear(): Promise<void> {
    await this.#workshop.end();
  }

  async end(): Promise<void> {
    await this.clear();
    await this.#folders.remove();
  }
}
