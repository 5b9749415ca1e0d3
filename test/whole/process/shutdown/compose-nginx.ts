import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'yaml';
import { eventually } from '../../../eventually.js';
import { writeIn } from '../../temp-folders.js';

interface Compose {
  readonly 'x-gateway': { readonly environment: Readonly<Record<string, string>> };
  readonly configs: { readonly nginx: { readonly content: string } };
}

interface ComposePorts {
  readonly folder: string;
  readonly port: number;
  readonly inside: number;
  readonly ports: readonly number[];
}

/** `compose.yaml` as it ships. */
export async function readCompose(): Promise<Compose> {
  return parse(await readFile('compose.yaml', 'utf8')) as Compose; // of the shape that it has
}

/** The nginx of `compose.yaml`, with its gateways and itself on ports of the loopback address. */
export class ComposeNginx {
  readonly #child: ChildProcess;
  #stderr = '';

  private constructor(program: string, folder: string) {
    this.#child = spawn(program, ['-p', folder, '-c', path.join(folder, 'nginx.conf'), '-e', 'stderr']);
    this.#child.stderr?.on('data', (text: Buffer) => (this.#stderr += text.toString()));
  }

  /** `ports`: of the gateways, in their order; `inside`: in place of the port for operators. */
  static async start(program: string, { folder, port, inside, ports }: ComposePorts): Promise<ComposeNginx> {
    const { content } = (await readCompose()).configs.nginx;
    const block = ports
      .reduce((text, each, at) => text.replaceAll(`gateway-${at + 1}:8787`, `127.0.0.1:${each}`), content)
      .replace('listen 8080;', `listen 127.0.0.1:${port};`)
      .replace('listen 8081;', `listen 127.0.0.1:${inside};`)
      .replaceAll('$$', '$');
    await writeIn(folder, 'nginx.conf', wholeOf(folder, block));
    const nginx = new ComposeNginx(program, folder);
    await eventually(() => nginx.#answers(port), 20_000);
    return nginx;
  }

  /** What it has complained of. */
  get stderr(): string {
    return this.#stderr;
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await exited;
  }

  async #answers(port: number): Promise<boolean> {
    if (this.#child.exitCode !== null) throw new Error(`nginx has ended: ${this.#stderr}`);
    return fetch(`http://127.0.0.1:${port}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  }
}

/** What the image has around the block. */
function wholeOf(folder: string, block: string): string {
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return [
    'daemon off;',
    'worker_processes 1;',
    `pid ${folder}/nginx.pid;`,
    'events { worker_connections 1024; }',
    'http {',
    'access_log off;',
    ...kinds.map((kind) => `${kind}_temp_path ${folder}/nginx-${kind};`),
    block,
    '}',
  ].join('\n');
}
