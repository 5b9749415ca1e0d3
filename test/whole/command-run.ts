import { Writable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { main } from '#src/cli/command-line.js';

export interface ProcessOptions {
  /** What comes after `node dist/server.js`. */
  readonly args?: readonly string[];
  /** Beside a free port on the loopback address; nothing else of our own environment is handed on. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** In place of `server.js`. */
  readonly entry?: string;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Environment of each command and server: what they need of ours, and a free port of the loopback address. */
export function ownEnv(): Readonly<Record<string, string | undefined>> {
  return { PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: '0' };
}

/**
 * Runs a command, or a server that is refused before it opens anything, as `node dist/server.js` would, in a folder and
 * an environment of its own, but in this process, which has the modules loaded. Only one runs at a time, for the working
 * directory is of the process. Throws where it serves.
 */
export function runCommand(options: Required<Omit<ProcessOptions, 'entry'>>): Promise<Ended> {
  const run = last.then(() => runAlone(options));
  last = run.catch(() => undefined);
  return run;
}

let last: Promise<unknown> = Promise.resolve();

async function runAlone({ args, env, cwd }: Required<Omit<ProcessOptions, 'entry'>>): Promise<Ended> {
  const { env: outerEnv, cwd: outerCwd } = { env: process.env, cwd: process.cwd() };
  const { console } = globalThis;
  const listeners = process.listeners('exit');
  const outer = (['stdin', 'stdout', 'stderr'] as const).map(
    (name) => [name, Object.getOwnPropertyDescriptor(process, name)!] as const,
  );
  const [stdout, stderr] = [new Output(), new Output()];
  try {
    process.chdir(cwd);
    process.env = { ...ownEnv(), ...env };
    for (const [name, value] of Object.entries({ stdin: {}, stdout, stderr }))
      Object.defineProperty(process, name, { value, configurable: true });
    const code = await main(args, (exitCode) => Promise.resolve(exitCode));
    if (code === undefined) throw new Error(`It serves, in the process of the tests: ${args.join(' ')}`);
    return { code, signal: null, stdout: stdout.text, stderr: stderr.text };
  } finally {
    for (const [name, descriptor] of outer) Object.defineProperty(process, name, descriptor);
    process.env = outerEnv;
    process.chdir(outerCwd);
    globalThis.console = console;
    for (const added of process.listeners('exit').filter((each) => !listeners.includes(each)))
      process.off('exit', added);
    // Some commands delay optimization, which is for processes that end; the value is the default of Node 20.
    if (process.versions.v8.startsWith('11.')) setFlagsFromString(`--interrupt-budget=${132 * 1024}`);
  }
}

/** Keeps what is written; no terminal. */
class Output extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}
