import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { makeCertificate } from '../live/certificates.js';
import { postgresUrl } from './stores.js';

/** Folder with initdb; undefined where there is none, or where nothing is tested with PostgreSQL. */
export const postgresPrograms = postgresUrl === undefined ? undefined : findPrograms();

function findPrograms(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root) : [];
  const folders = [
    ...versions.map((version) => path.join(root, version, 'bin')),
    '/usr/local/bin',
    '/usr/bin',
  ];
  return folders.find((folder) => existsSync(path.join(folder, 'initdb')));
}

const run = promisify(execFile);

/** Options of a process whose user is not root, as whom PostgreSQL refuses to run. */
function asPostgres(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (kind: string) => Number(execFileSync('id', [kind, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

function owner(): string {
  return String(asPostgres().uid ?? process.getuid!());
}

/** A PostgreSQL server of its own, with TLS for the name localhost. */
export class PostgresServer {
  readonly folder: string;
  readonly port: number;
  readonly #data: string;
  #process: ChildProcess | undefined;

  /** Makes a primary and starts it. */
  static async start(): Promise<PostgresServer> {
    const folder = await ownedFolder();
    const data = path.join(folder, 'data');
    const kind = ['--auth=trust', '--username=root', '--encoding=UTF8', '--locale=C', '--no-sync'];
    await run(path.join(postgresPrograms!, 'initdb'), ['-D', data, ...kind], { ...asPostgres() });
    const { cert, key } = await makeCertificate(folder, { names: 'DNS:localhost' });
    await run('chown', [owner(), key]);
    await chmod(key, 0o600);
    const settings = ['fsync = off', "listen_addresses = '127.0.0.1'", 'ssl = on'];
    const files = [`ssl_cert_file = '${cert}'`, `ssl_key_file = '${key}'`, 'wal_keep_size = 64'];
    await writeFile(path.join(data, 'postgresql.auto.conf'), [...settings, ...files, ''].join('\n'));
    await run('chown', [owner(), path.join(data, 'postgresql.auto.conf')]);
    const server = new PostgresServer(folder, await freePort());
    await run('cp', ['-a', data, `${data}-copy`]);
    await server.#begin();
    return server;
  }

  private constructor(folder: string, port: number) {
    this.folder = folder;
    this.port = port;
    this.#data = path.join(folder, 'data');
  }

  /** Folder of its Unix socket, named as those of Cloud SQL are. */
  get sockets(): string {
    return path.join(this.folder, 'project:region:instance');
  }

  /** File of the certificate for localhost. */
  get certificate(): string {
    return path.join(this.folder, 'DNS-localhost-false.crt');
  }

  /** Starts a standby that streams from this server. */
  async standby(): Promise<PostgresServer> {
    const server = new PostgresServer(await ownedFolder(), await freePort());
    await run('cp', ['-a', `${this.#data}-copy`, server.#data]);
    const from = `primary_conninfo = 'host=127.0.0.1 port=${this.port} user=root'\n`;
    await writeFile(path.join(server.#data, 'postgresql.auto.conf'), `fsync = off\n${from}`);
    await writeFile(path.join(server.#data, 'standby.signal'), '');
    await server.#begin();
    return server;
  }

  /** Address of a database of this server. */
  url(database = 'postgres', user = 'root'): string {
    return `postgres://${user}@127.0.0.1:${this.port}/${database}`;
  }

  /** Runs statements, each on its own. */
  async query(...statements: readonly string[]): Promise<readonly Record<string, unknown>[]> {
    const client = await this.client();
    try {
      let rows: readonly Record<string, unknown>[] = [];
      for (const statement of statements) ({ rows } = await client.query(statement));
      return rows;
    } finally {
      await client.end();
    }
  }

  /** A connection that its user ends. */
  async client(database = 'postgres'): Promise<Client> {
    const client = new Client({ connectionString: this.url(database) });
    await client.connect();
    return client;
  }

  async stop(): Promise<void> {
    const child = this.#process;
    if (child && child.exitCode === null) {
      child.kill('SIGQUIT');
      await once(child, 'exit');
    }
    await rm(this.folder, { recursive: true, force: true });
  }

  async #begin(): Promise<void> {
    await mkdir(this.sockets);
    await run('chown', [owner(), this.sockets]);
    const args = ['-D', this.#data, '-p', String(this.port), '-k', this.sockets];
    const child = spawn(path.join(postgresPrograms!, 'postgres'), args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      ...asPostgres(),
    });
    this.#process = child;
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stderr })) {
      lines.push(line);
      if (!line.includes('ready to accept')) continue;
      child.stderr.resume();
      return;
    }
    throw new Error(lines.join('\n'));
  }
}

async function ownedFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gw2api-pg-'));
  await run('chown', [owner(), folder]);
  return folder;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on TCP
  server.close();
  await once(server, 'close');
  return port;
}
