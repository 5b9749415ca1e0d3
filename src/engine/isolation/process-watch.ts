import { readFileSync } from 'node:fs';
import { isRecord } from '../../kit/schema/record.js';
import { WireFault } from './wire/frames.js';

export interface ProcessWatchOptions {
  /** Max resident memory. */
  readonly memoryBytes: number;
  /** Max time without an answer. */
  readonly stallMs: number;
  readonly pid: number | undefined;
  readonly ping: (number: number) => void;
  readonly onFault: (reason: 'stall' | 'memory', detail: string) => void;
}

/** Watches that a child process answers, and reads its memory. */
export class ProcessWatch {
  readonly #options: ProcessWatchOptions;
  readonly #everyMs: number;
  #timer: NodeJS.Timeout | undefined;
  #sent = 0;
  #answered = 0;
  /** Own turns of the timer without an answer, as time: a pause of this process is not one of the child. */
  #waitedMs = 0;

  constructor(options: ProcessWatchOptions) {
    this.#options = options;
    this.#everyMs = Math.min(maxEveryMs, Math.max(minEveryMs, options.stallMs / 4));
  }

  /** True once the child has said that it runs. */
  get hasStarted(): boolean {
    return this.#timer !== undefined;
  }

  /** Begins once the child has started. */
  start(): void {
    if (this.#timer) return;
    this.#timer = setInterval(() => this.#look(), this.#everyMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Takes an answer of the child; returns the fill levels of its caches. */
  pong(answer: unknown): unknown {
    const { number, rss, caches } = isRecord(answer) ? answer : {};
    if (number !== this.#sent || this.#answered === this.#sent)
      throw new WireFault('answered a ping that was not sent');
    this.#answered = this.#sent;
    this.#waitedMs = 0;
    if (process.platform !== 'linux' && typeof rss === 'number') this.#checkMemory(rss);
    return caches;
  }

  #look(): void {
    const { pid, stallMs, onFault } = this.#options;
    if (this.#answered !== this.#sent) {
      this.#waitedMs += this.#everyMs;
      if (this.#waitedMs >= stallMs) return onFault('stall', `did not answer within ${stallMs / 1000} s`);
    } else {
      this.#sent += 1;
      this.#options.ping(this.#sent);
    }
    if (pid !== undefined && process.platform === 'linux') this.#checkMemory(residentBytes(pid));
  }

  #checkMemory(bytes: number): void {
    const { memoryBytes, onFault } = this.#options;
    if (bytes <= memoryBytes) return;
    const [has, may] = [bytes, memoryBytes].map((each) => Math.round(each / 2 ** 20));
    onFault('memory', `had ${has} MB of memory, and its limit is ${may} MB`);
  }
}

const maxEveryMs = 250;
const minEveryMs = 10;

/** Resident memory of a process and of those that it has started, at most some; 0 for one that has ended. */
function residentBytes(pid: number): number {
  let bytes = 0;
  const pids = [pid];
  for (const one of pids) {
    const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(textOf(`/proc/${one}/status`)) ?? [];
    bytes += Number(kilobytes) * 1024;
    const children = textOf(`/proc/${one}/task/${one}/children`).split(' ').map(Number);
    if (pids.length < maxProcesses) pids.push(...children.filter((child) => child > 0));
  }
  return bytes;
}

const maxProcesses = 20;

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return ''; // the process has ended meanwhile
  }
}
