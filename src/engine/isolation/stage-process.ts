import { spawn, type ChildProcess } from 'node:child_process';
import type { Duplex } from 'node:stream';
import type { IsolationConfig } from '../../config/config.js';
import { endOf, type ProcessEnd } from './process-end.js';
import type { Command } from './program.js';
import { ProcessWatch } from './process-watch.js';
import { QuietWatch } from './quiet-watch.js';
import type { WireFault } from './wire/frames.js';
import { Link, type LinkHandlers } from './wire/link.js';
import { Streams } from './wire/streams.js';
import { ErrorNotes } from './wire/wire-errors.js';

export interface StageProcessOptions extends LinkHandlers {
  readonly command: Command;
  readonly settings: IsolationConfig;
  /** Takes the fill levels of caches that the child reports. */
  readonly onCaches: (caches: unknown) => void;
  readonly onEnd: (end: ProcessEnd) => void;
}

/** A child process with the link to it, from its start to its end. */
export class StageProcess {
  readonly #options: StageProcessOptions;
  readonly #child: ChildProcess;
  readonly #link: Link;
  readonly #watch: ProcessWatch;
  readonly #quiet: QuietWatch;
  readonly errors = new ErrorNotes();
  readonly streams: Streams;
  /** Set-ups of the stage in this process, by the number of the instance, with the names of its parts. */
  readonly isSetUp = new Map<number, Promise<readonly string[]>>();
  #output = '';
  #end: ProcessEnd | undefined;

  constructor(options: StageProcessOptions) {
    this.#options = options;
    const { command, args, env } = options.command;
    const stdio = ['ignore', 'ignore', 'pipe', 'pipe'] as const;
    this.#child = spawn(command, args, { stdio: [...stdio], env, detached: true });
    this.#child.on('error', (error) =>
      this.end({ reason: 'start', detail: `could not be started: ${error.message}` }),
    );
    this.#child.on('exit', (code, signal) => this.#exited(code, signal));
    this.#child.stderr?.on(
      'data',
      (chunk: Buffer) => (this.#output = (this.#output + chunk.toString()).slice(-maxOutput)),
    );
    this.#watch = new ProcessWatch({
      ...options.settings,
      pid: this.#child.pid,
      ping: (number) => this.#link.note('ping', number),
      onFault: (reason, detail) => this.end({ reason, detail }),
    });
    this.streams = new Streams(() => this, this.errors);
    this.#link = this.#connect();
    this.#quiet = new QuietWatch((number) => this.#link.note('echo', number));
    running.add(this);
    this.#release();
  }

  /** Undefined while it runs. */
  get ended(): ProcessEnd | undefined {
    return this.#end;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  call(method: string, params: unknown): Promise<unknown> {
    this.#quiet.sent();
    return this.#link.call(method, params);
  }

  note(method: string, params: unknown, mayWait?: boolean): void {
    this.#quiet.sent();
    this.#link.note(method, params, mayWait);
  }

  /** Tells a dry run from now on that the child is busy. */
  watchQuiet(): void {
    this.#quiet.begin();
  }

  /** Kills the process, with all that it has started, unless it has ended. */
  end(end: ProcessEnd): void {
    if (this.#end) return;
    this.#end = end;
    this.kill();
    running.delete(this);
    this.#watch.stop();
    this.#quiet.stop();
    const error = new Error(`its process ${end.detail}`);
    this.#link.end(error);
    this.streams.close(error);
    this.#options.onEnd(end);
  }

  kill(): void {
    const { pid } = this.#child;
    if (pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      this.#child.kill('SIGKILL'); // no group of its own
    }
  }

  #connect(): Link {
    const { calls, notes } = this.#options;
    return new Link(this.#child.stdio[3] as Duplex, {
      calls: this.#answered(calls),
      notes: {
        ...notes,
        ...this.streams.notes,
        hello: () => this.#watch.start(),
        pong: (answer) => this.#options.onCaches(this.#watch.pong(answer)),
        echoed: (number) => this.#quiet.echoed(number),
      },
      maxBytes: maxFrameBytes,
      maxOpen: maxQuestions,
      errors: this.errors,
      onEnd: (fault) => this.#disconnected(fault),
    });
  }

  /** Questions of the child, whose answers keep it busy. */
  #answered(calls: LinkHandlers['calls']): LinkHandlers['calls'] {
    const each = Object.entries(calls).map(([name, answer]) => {
      const answered = async (params: unknown): Promise<unknown> => {
        try {
          return await answer(params);
        } finally {
          this.#quiet.sent();
        }
      };
      return [name, answered] as const;
    });
    return Object.fromEntries(each);
  }

  #disconnected(fault: WireFault | undefined): void {
    if (fault) return this.end({ reason: 'protocol', detail: fault.message });
    // Most often the process exits at the same time, and its code says more.
    setTimeout(() => this.end({ reason: 'exit', detail: 'closed its connection' }), exitMs).unref();
  }

  /** Ends once the error output is read, unless a process that it has started keeps that open. */
  #exited(code: number | null, signal: NodeJS.Signals | null): void {
    const tell = () =>
      this.end(endOf({ code, signal, output: this.#output, hasStarted: this.#watch.hasStarted }));
    const { stderr } = this.#child;
    if (!stderr || stderr.closed) return tell();
    stderr.once('close', tell);
    setTimeout(tell, exitMs).unref();
  }

  /** Lets the gateway's process end while this one runs, which ends with its connection. */
  #release(): void {
    this.#child.unref();
    for (const stream of [this.#child.stderr, this.#child.stdio[3]])
      (stream as Partial<Unrefable> | null)?.unref?.();
  }
}

/** Sockets, which pipes of child processes are. */
interface Unrefable {
  unref(): void;
}

/** Processes that are killed if this one exits: one in a loop would not see the end of its connection. */
const running = new Set<StageProcess>();
process.on('exit', () => {
  for (const child of running) child.kill();
});

/** Max size of a frame of the child beside what the gateway has asked it. */
const maxFrameBytes = 4 * 2 ** 20;
const maxQuestions = 10_000;
const maxOutput = 4000;
const exitMs = 100;
