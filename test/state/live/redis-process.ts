import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from '../../eventually.js';
import { freePort } from '../../whole/free-port.js';
import { TempFolders } from '../../whole/temp-folders.js';

/** Program of the Redis servers that tests start; undefined: there is none. */
export const redisProgram = process.env['GW_TEST_REDIS_SERVER'];

/** A Redis server of its own, in a folder of its own. */
export class RedisProcess {
  readonly port: number;
  readonly #child: ChildProcess;
  readonly #folders: TempFolders;
  #output = '';

  /** Starts it on a free port, with `args` such as `--requirepass secret`, and waits until it is ready. */
  static async start(args: (port: number) => readonly string[] = onPort): Promise<RedisProcess> {
    const plain = ['--save', '', '--appendonly', 'no'];
    return RedisProcess.#start('', (port) => [...plain, ...args(port)], /Ready to accept connections/);
  }

  /** Starts a sentinel with these lines of a config, on a port of its own or on this one, and waits until it watches. */
  static async startSentinel(
    lines: readonly string[],
    args: (port: number) => readonly string[] = onPort,
    port?: number,
  ): Promise<RedisProcess> {
    const all = (own: number) => ['--sentinel', ...args(own)];
    return RedisProcess.#start(`${lines.join('\n')}\n`, all, /monitor master/, port);
  }

  static async #start(
    conf: string,
    args: (port: number) => readonly string[],
    isReady: RegExp,
    fixed?: number,
  ): Promise<RedisProcess> {
    const port = fixed ?? (await freePort());
    const folders = new TempFolders();
    const cwd = await folders.make({ 'redis.conf': conf });
    const all = ['redis.conf', '--bind', '127.0.0.1', ...args(port)];
    const started = new RedisProcess(port, spawn(redisProgram!, all, { cwd }), folders);
    await started.output(isReady);
    return started;
  }

  private constructor(port: number, child: ChildProcess, folders: TempFolders) {
    this.port = port;
    this.#child = child;
    this.#folders = folders;
    child.stdout?.on('data', (chunk: Buffer) => (this.#output += chunk.toString()));
  }

  /** Resolves once the log has so many matches. */
  async output(pattern: RegExp, times = 1): Promise<void> {
    const isThere = () => (this.#output.match(pattern)?.length ?? 0) >= times;
    await eventually(() => isThere() || this.#isOver, 30_000);
    if (!isThere()) throw new Error(`Redis has ended: ${this.#output}`);
  }

  /** Stops it where it is, as a machine that hangs; `SIGCONT` lets it go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal);
  }

  get #isOver(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async end(): Promise<void> {
    if (!this.#isOver) {
      this.#child.kill('SIGKILL');
      await once(this.#child, 'close');
    }
    await this.#folders.remove();
  }
}

export function onPort(port: number): readonly string[] {
  return ['--port', String(port)];
}
