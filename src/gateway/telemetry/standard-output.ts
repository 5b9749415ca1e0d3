import { pino } from 'pino';
import { isPipe } from './process-exit.js';

/** A writer of standard output, with the number of characters that it has not written yet. */
interface Sink {
  readonly waiting: number;
  write(text: string): void;
}

type DroppedLines = Readonly<Record<string, number>>;

/** Number of log lines by level that were not written, since the process began. */
const dropped = new Map<string, number>();

export function droppedLogLines(): ReadonlyMap<string, number> {
  return dropped;
}

/** Receives the numbers of lost lines by level, once standard output is read again. */
type OnReadAgain = (lost: DroppedLines) => void;

/**
 * JSON lines of the logger to standard output, each formatted by `shown`; `gatherMs`: how long lines are batched for
 * one write. Unread lines wait in memory; above 4 MB those of requests are dropped, above 5 MB all.
 */
export class StandardOutput {
  readonly #sink: Sink;
  readonly #gatherMs: number;
  readonly #shown: (line: string) => string;
  readonly #onReadAgain: OnReadAgain;
  readonly #lost = new Map<string, number>();
  #gathered = '';
  #timer: NodeJS.Timeout | undefined;

  constructor({
    gatherMs = 0,
    shown = (line) => line,
    onReadAgain = () => undefined,
  }: {
    readonly gatherMs?: number;
    readonly shown?: (line: string) => string;
    readonly onReadAgain?: OnReadAgain;
  } = {}) {
    this.#gatherMs = gatherMs;
    this.#shown = shown;
    this.#onReadAgain = onReadAgain;
    this.#sink = isPipe() ? pipeSink(() => this.#isReadAgain()) : fileSink();
  }

  write(line: string): void {
    if (this.#isFullFor(line)) return this.#drop(line);
    this.#gathered += this.#shown(line);
    if (this.#gatherMs === 0 || this.#gathered.length >= maxGathered) return this.flush();
    this.#timer ??= setTimeout(() => this.flush(), this.#gatherMs).unref();
    return undefined;
  }

  /** Hands the gathered lines to the system; to be called when the process ends. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#gathered;
    this.#gathered = '';
    if (text !== '') this.#sink.write(text);
  }

  #isFullFor(line: string): boolean {
    const waiting = this.#gathered.length + this.#sink.waiting;
    return waiting > maxWaiting || (waiting > maxWaitingForRequests && line.endsWith(requestEnd));
  }

  #drop(line: string): void {
    const level = levelOf(line);
    for (const counts of [dropped, this.#lost]) counts.set(level, (counts.get(level) ?? 0) + 1);
  }

  #isReadAgain(): void {
    if (this.#lost.size === 0) return;
    const lost = Object.fromEntries(this.#lost);
    this.#lost.clear();
    this.#onReadAgain(lost);
  }
}

/** A file or a terminal, written before `write` returns. */
function fileSink(): Sink {
  const file = pino.destination({ dest: 1, sync: true });
  return { waiting: 0, write: (text) => void file.write(text) };
}

/** A pipe or a socket, without pino: its write would block the event loop, or in a thread the exit of the process. */
function pipeSink(onDrain: () => void): Sink {
  const { stdout } = process;
  let isBroken = false;
  stdout.on('drain', onDrain);
  stdout.on('error', () => {
    isBroken = true; // its reader has gone for good
  });
  return {
    get waiting() {
      return isBroken ? Infinity : stdout.writableLength;
    },
    write: (text) => void (isBroken || stdout.write(text)),
  };
}

/** Level of a line of the logger, which begins with it. */
function levelOf(line: string): string {
  return /^\{"level":"(\w+)"/.exec(line)?.[1] ?? 'unknown';
}

/** End of the line of a request, which the logger writes. */
const requestEnd = ',"msg":"request"}\n';

const maxGathered = 8 * 1024;
const maxWaitingForRequests = 4 * 2 ** 20;
const maxWaiting = 5 * 2 ** 20;
