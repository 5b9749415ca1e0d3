import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ownEnv, runCommand, type Ended, type ProcessOptions } from './command-run.js';
import { TempFolders, type Files } from './temp-folders.js';

export type { Ended, ProcessOptions } from './command-run.js';

export type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string };

/** A gateway that runs in a process of its own. */
export class GatewayProcess {
  readonly ended: Promise<Ended>;
  /** Settles before `ended` where its output is not read. */
  readonly exited: Promise<Pick<Ended, 'code' | 'signal'>>;
  readonly #child: ChildProcess;
  readonly #watchers = new Set<() => void>();
  readonly #logged: LogLine[] = [];
  #stdout = '';
  /** What has come of a line whose end has not. */
  #begun = '';
  #stderr = '';
  #isOver = false;

  constructor({ args = [], env = {}, cwd = tmpdir(), entry = 'server.js' }: ProcessOptions) {
    const argv = [path.resolve('dist', entry), ...args]; // an absolute entry stays as it is
    this.#child = spawn(process.execPath, argv, { cwd, env: { ...ownEnv(), ...env } });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#read(() => this.#hear(text)));
    this.#child.stderr
      ?.setEncoding('utf8')
      .on('data', (text: string) => this.#read(() => (this.#stderr += text)));
    this.exited = once(this.#child, 'exit').then(([code, signal]) => ({ code, signal }));
    this.ended = once(this.#child, 'close').then(([code, signal]) => {
      this.#read(() => (this.#isOver = true));
      return { code, signal, stdout: this.#stdout, stderr: this.#stderr };
    });
  }

  get stdout(): string {
    return this.#stdout;
  }

  /** The log so far. */
  get logged(): readonly LogLine[] {
    return this.#logged;
  }

  /** The log line of this message, now or as soon as it comes. */
  async log(message: string): Promise<LogLine> {
    return this.line(({ msg }) => msg === message, `the log line "${message}"`);
  }

  /** The first line of the log that `isMeant`, now or as soon as it comes. */
  async line(isMeant: (line: LogLine) => boolean, what = 'the log line'): Promise<LogLine> {
    return this.#until(() => this.#logged.find(isMeant), what);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Where it listens. */
  async url(): Promise<string> {
    return String((await this.log('The gateway is listening.'))['url']);
  }

  /** The standard output, once this is so many times in it. */
  async output(part: string, times = 1): Promise<string> {
    return this.#until(
      () => (this.#stdout.split(part).length > times ? this.#stdout : undefined),
      `the output "${part}"`,
    );
  }

  /** Reads no more of its standard output, beyond what the buffers of the socket hold. */
  pauseOutput(): void {
    this.#child.stdout?.pause();
  }

  resumeOutput(): void {
    this.#child.stdout?.resume();
  }

  /** Closes our end of its standard output. */
  closeOutput(): void {
    this.#child.stdout?.destroy();
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Parses each line once: a log may have megabytes. */
  #hear(text: string): void {
    this.#stdout += text;
    const lines = (this.#begun + text).split('\n');
    this.#begun = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('{')) this.#logged.push(JSON.parse(line) as LogLine); // pino writes them
  }

  #read(take: () => unknown): void {
    take();
    for (const look of this.#watchers) look();
  }

  async #until<Found>(find: () => Found | undefined, what: string): Promise<Found> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = find();
        if (found !== undefined) resolve(found);
        else if (this.#isOver)
          reject(new Error(`It ended before ${what} came: ${this.#stdout}${this.#stderr}`));
        else return;
        this.#watchers.delete(look);
      };
      this.#watchers.add(look);
      look();
    });
  }
}

/** The processes and folders of one test; `end` kills and removes them. */
export class ProcessWorkshop {
  readonly #processes: GatewayProcess[] = [];
  readonly #folders = new TempFolders();

  /** Starts a gateway in a folder of its own, unless `cwd` names one. */
  async start(options: ProcessOptions = {}): Promise<GatewayProcess> {
    const started = new GatewayProcess({ ...options, cwd: options.cwd ?? (await this.folder()) });
    this.#processes.push(started);
    return started;
  }

  /** Runs a command, or a server that is refused before it opens anything, to its end in this process. */
  async run(options: Omit<ProcessOptions, 'entry'> = {}): Promise<Ended> {
    return runCommand({ env: {}, args: [], ...options, cwd: options.cwd ?? (await this.folder()) });
  }

  /** Runs to the end in a process of its own, which takes seconds: once for each command, and for a server that opens. */
  async spawn(options: ProcessOptions = {}): Promise<Ended> {
    return (await this.start(options)).ended;
  }

  /** A new folder with these files in it. */
  folder(files: Files = {}): Promise<string> {
    return this.#folders.make(files);
  }

  async end(): Promise<void> {
    for (const running of this.#processes) {
      running.signal('SIGKILL');
      running.resumeOutput();
    }
    await Promise.all(this.#processes.splice(0).map(({ ended }) => ended));
    await this.#folders.remove();
  }
}
