import {
  execFile,
  fork,
  spawn,
  type ChildProcess,
  type SpawnOptions,
  type StdioOptions,
} from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** A path in `build`, as `test/bench/bench.js`. */
export function built(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}

/** A path of the package, as `dist/server.js`, in this checkout or in another. */
export function shipped(path: string, checkout = built('..')): string {
  return join(checkout, path);
}

/** The processes and the scratch folder of a measurement; `end` ends and removes them. */
export class Lab {
  readonly folder: string;
  /** The Node that all processes run on. */
  readonly node: string;
  /** Flags of Node for the gateways. */
  readonly gatewayFlags: readonly string[];
  /** Folder of a checkout with another build, to compare with. */
  readonly against: string | undefined;
  /** As `v20.20.2`. */
  readonly version: string;
  readonly #children: ChildProcess[] = [];

  static async open(node: string, gatewayFlags: readonly string[] = [], against?: string): Promise<Lab> {
    const { stdout } = await promisify(execFile)(node, ['--version']);
    const folder = await mkdtemp(join(tmpdir(), 'gw2api-bench-'));
    return new Lab({ node, gatewayFlags, against, version: stdout.trim(), folder });
  }

  private constructor(parts: Pick<Lab, 'node' | 'gatewayFlags' | 'against' | 'version' | 'folder'>) {
    const { node, gatewayFlags, against, version, folder } = parts;
    this.node = node;
    this.gatewayFlags = gatewayFlags;
    this.against = against;
    this.version = version;
    this.folder = folder;
    process.once('exit', this.#abandon);
  }

  /** A module of `build` in a process of its own, once it runs; what it says is the first message. */
  async fork(
    module: string,
    env: Readonly<Record<string, string>> = {},
    execArgv: string[] = [],
  ): Promise<ChildProcess> {
    const child = fork(built(module), [], {
      execPath: this.node,
      execArgv,
      env: { ...process.env, ...env },
    });
    this.#children.push(child);
    await once(child, 'spawn');
    return child;
  }

  /** A server that says its port in its first message. */
  async forkServer(
    module: string,
    env?: Readonly<Record<string, string>>,
    execArgv?: string[],
  ): Promise<Server> {
    const spawnedMs = performance.now();
    const child = await this.fork(module, env, execArgv);
    const [{ port }] = (await nextMessage(child)) as [{ port: number }]; // what these modules send
    return { child, origin: originOf(port), spawnedMs };
  }

  /** A command that listens on the port it is given; resolves when it accepts connections. */
  async spawnServer(
    port: number,
    command: string,
    args: readonly string[],
    options: SpawnOptions = {},
  ): Promise<Server> {
    const spawnedMs = performance.now();
    const stdio: StdioOptions = ['ignore', 'ignore', 'pipe'];
    const child = spawn(command, args, { cwd: this.folder, stdio, ...options });
    this.#children.push(child);
    await accepting(port, child);
    return { child, origin: originOf(port), spawnedMs };
  }

  /** Ends one process before the others. */
  async stop(pid: number): Promise<void> {
    const child = this.#children.find((each) => each.pid === pid);
    if (child) await end(child);
  }

  /** Ends all processes and removes the folder. */
  async end(): Promise<void> {
    await Promise.all(this.#children.splice(0).map(end));
    await rm(this.folder, { recursive: true, force: true });
    process.off('exit', this.#abandon);
  }

  /** Ends all processes by force, if the run itself ends. */
  readonly #abandon = (): void => {
    for (const child of this.#children) child.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  };
}

/** A signal ends the run by an exit, which takes its labs along. */
export function exitOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
}

export interface Server {
  readonly child: ChildProcess;
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  /** When its process was begun, by `performance.now()`. */
  readonly spawnedMs: number;
}

/** A server's process that ended before it listened. */
export class EndedEarly extends Error {}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a TCP server's
  server.close();
  return port;
}

/** The next message of a process; rejects where it ends without one. */
export async function nextMessage(child: ChildProcess): Promise<readonly unknown[]> {
  const over = new AbortController();
  const ended = once(child, 'exit', { signal: over.signal }).then(([code]) => {
    throw new EndedEarly(`${child.spawnargs.join(' ')} ended with code ${code}.`);
  });
  ended.catch(() => undefined); // told by the race, or called off
  try {
    return await Promise.race([once(child, 'message', { signal: over.signal }), ended]);
  } finally {
    over.abort();
  }
}

function originOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}

/** Rejects where the process ends first, or nobody listens after 20 s. */
async function accepting(port: number, child: ChildProcess): Promise<void> {
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said = `${said}${String(chunk)}`.slice(-2000)));
  for (let attempt = 0; attempt < 5000; attempt += 1) {
    if (child.exitCode !== null)
      throw new EndedEarly(`${child.spawnfile} ended with code ${child.exitCode}. ${said}`);
    if (await accepts(port)) return;
    await sleep(4);
  }
  throw new Error(`${child.spawnfile} does not listen.`);
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}

/** Politely, and after 5 s by force. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const impatience = setTimeout(() => child.kill('SIGKILL'), 5000);
  await ended;
  clearTimeout(impatience);
}
