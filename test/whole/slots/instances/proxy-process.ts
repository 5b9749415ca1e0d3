import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { eventually } from '../../../eventually.js';
import { freePort } from '../../free-port.js';
import { writeIn } from '../../temp-folders.js';

/** An example of config/deploy, and what makes a whole config of it on loopback ports. */
interface Example {
  readonly file: string;
  readonly variable: 'GW_TEST_CADDY' | 'GW_TEST_NGINX';
  readonly args: (folder: string) => readonly string[];
  readonly whole: (text: string, place: Place) => string;
}

interface Place {
  readonly folder: string;
  readonly port: number;
  /** Host and port of the gateway. */
  readonly gateway: string;
}

export const caddyExample: Example = {
  file: 'Caddyfile',
  variable: 'GW_TEST_CADDY',
  args: (folder) => ['run', '--config', path.join(folder, 'config'), '--adapter', 'caddyfile'],
  whole: (text, { folder, port, gateway }) =>
    `{\n\tadmin off\n\tauto_https off\n\tstorage file_system ${folder}\n}\n${text
      .replace('gateway.example.com {', `http://127.0.0.1:${port} {`)
      .replace('reverse_proxy 127.0.0.1:8787', `reverse_proxy ${gateway}`)}`,
};

interface NginxOptions {
  /** Change of the file. */
  readonly change?: (text: string) => string;
  /** Certificate `NAME.crt` with `NAME.key` of the folder, for https. */
  readonly certificate?: string;
}

/** A file for nginx, which goes into the block `http` of its config. */
export function nginxExample(
  file: string,
  { change = (text) => text, certificate }: NginxOptions = {},
): Example {
  return {
    file,
    variable: 'GW_TEST_NGINX',
    args: (folder) => ['-p', folder, '-c', path.join(folder, 'config'), '-e', 'stderr'],
    whole: (text, { folder, port, gateway }) =>
      [
        'daemon off;',
        'worker_processes 1;',
        `pid ${folder}/nginx.pid;`,
        'events { worker_connections 1024; }',
        'http {',
        'access_log off;',
        ...temporary.map((kind) => `${kind}_temp_path ${folder}/${kind};`),
        change(text)
          .replace('listen 443 ssl;', `listen 127.0.0.1:${port}${certificate ? ' ssl' : ''};`)
          .replace(/(ssl_certificate(?:_key)? +).*(pem|key);\n/g, (_, name: string, kind: string) =>
            certificate ? `${name}${folder}/${certificate}.${kind === 'pem' ? 'crt' : 'key'};\n` : '\n',
          )
          .replace('server 127.0.0.1:8787', `server ${gateway}`),
        '}',
      ].join('\n'),
  };
}

const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** A reverse proxy in a process of its own. */
export class Proxy {
  readonly port: number;
  readonly #child: ChildProcess;
  #stderr = '';

  private constructor(port: number, child: ChildProcess) {
    this.port = port;
    this.#child = child;
    child.stderr?.on('data', (text: Buffer) => (this.#stderr += text.toString()));
  }

  static async start(
    program: string,
    example: Example,
    { port, ...place }: Omit<Place, 'port'> & { readonly port?: number },
  ): Promise<Proxy> {
    const { folder } = place;
    const at = port ?? (await freePort());
    const text = await readFile(path.join('config/deploy', example.file), 'utf8');
    await writeIn(folder, 'config', example.whole(text, { ...place, port: at }));
    const env = { PATH: process.env['PATH'], HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    const started = new Proxy(at, spawn(program, example.args(folder), { env }));
    await eventually(() => started.#listens(), 20_000);
    return started;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await exited;
  }

  async #listens(): Promise<boolean> {
    if (this.#child.exitCode !== null) throw new Error(`It has ended: ${this.#stderr}`);
    const socket = connect(this.port, '127.0.0.1');
    const listens = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    return listens;
  }
}
