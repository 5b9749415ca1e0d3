import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chown, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Client } from 'pg';
import { freePort } from '../../whole/free-port.js';
import { ownFolder, type Place } from './stores.js';

/** A PostgreSQL server of a test, made of the programs of the shared one, on a port of its own. */
export class OwnPostgres {
  readonly url: string;
  readonly #bin: string;
  readonly #folder: Place<string>;
  readonly #port: number;
  #running: ChildProcess | undefined;

  private constructor(bin: string, folder: Place<string>, port: number) {
    this.#bin = bin;
    this.#folder = folder;
    this.#port = port;
    this.url = `postgres://gw:${password}@127.0.0.1:${port}/postgres`;
  }

  /** Makes the files of a server that is not running; `shared` is a server whose superuser the test is. */
  static async make(shared: string): Promise<OwnPostgres> {
    const client = new Client({ connectionString: shared });
    await client.connect();
    const { rows } = await client.query(`select setting from pg_config where name = 'BINDIR'`);
    await client.end();
    const folder = await ownFolder();
    if (process.getuid?.() === 0) await chown(folder.where, nobody, nobody);
    const server = new OwnPostgres((rows as [{ setting: string }])[0].setting, folder, await freePort());
    const passwordFile = path.join(folder.where, 'password');
    await writeFile(passwordFile, password);
    const users = ['-U', 'gw', '-A', 'scram-sha-256', '--pwfile', passwordFile];
    const args = ['-D', server.#data, ...users, '-E', 'UTF8', '--locale', 'C', '--no-sync'];
    const { status, stderr } = spawnSync(path.join(server.#bin, 'initdb'), args, asUser());
    if (status !== 0) throw new Error(String(stderr));
    return server;
  }

  /** Runs as a standby: read-only, or, without `takesReaders`, refusing all connections with 57P03. */
  async startStandby(takesReaders: boolean): Promise<void> {
    await writeFile(path.join(this.#data, 'standby.signal'), '');
    await this.start(['-c', `hot_standby=${takesReaders ? 'on' : 'off'}`], !takesReaders);
  }

  /** Runs, and resolves once it answers; a server that lets nobody in answers with an error. */
  async start(settings: readonly string[] = [], isRefusal = false): Promise<void> {
    const args = ['-D', this.#data, '-p', String(this.#port), '-k', this.#folder.where, '-h', '127.0.0.1'];
    this.#running = spawn(path.join(this.#bin, 'postgres'), [...args, '-c', 'fsync=off', ...settings], {
      stdio: 'ignore',
      ...asUser(),
    });
    while (!(await this.#answers(isRefusal))) await new Promise((resolve) => setTimeout(resolve, 50));
  }

  async #answers(isRefusal: boolean): Promise<boolean> {
    const client = new Client({ connectionString: this.url });
    try {
      await client.connect();
      return true;
    } catch (error) {
      return isRefusal && (error as NodeJS.ErrnoException).code === '57P03';
    } finally {
      await client.end();
    }
  }

  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (!running) return;
    const ended = once(running, 'exit');
    running.kill('SIGINT'); // a fast shutdown
    await ended;
  }

  /** No longer a standby, from the next start on. */
  async promote(): Promise<void> {
    await rm(path.join(this.#data, 'standby.signal'), { force: true });
  }

  async remove(): Promise<void> {
    await this.stop();
    await this.#folder.remove();
  }

  get #data(): string {
    return path.join(this.#folder.where, 'data');
  }
}

/** The server refuses to run as root. */
function asUser(): { readonly uid?: number; readonly gid?: number } {
  return process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
}

const nobody = 65_534;
const password = 'hidden';
