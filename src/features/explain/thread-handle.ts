import { Worker } from 'node:worker_threads';
import { programUrl } from '../../kit/package-files.js';
import type { ThreadAnswer, ThreadTask } from './thread-task.js';
import type { Clock } from '../../plugin/index.js';

/** Max heap of a thread that explains. */
const maxHeapMb = 512;

/** Max tasks of a thread, after which it is replaced, with any leftovers of plugins. */
const maxTasks = 100;

/** Thread that explains requests, one after another. It does not keep the process alive while it is idle. */
export class ThreadHandle {
  readonly #worker = new Worker(programUrl('features/thread-entry.js'), {
    workerData: { module: programUrl('features/explain/thread-server.js').href },
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  });
  #tasks = 0;
  #hasEnded = false;

  constructor() {
    this.#worker.on('error', () => undefined); // `exit` follows
    this.#worker.once('exit', () => (this.#hasEnded = true));
  }

  /** True if it can take another task. */
  get isUsable(): boolean {
    return !this.#hasEnded && this.#tasks < maxTasks;
  }

  /** Rejects if the thread breaks down. */
  async run(task: ThreadTask): Promise<ThreadAnswer> {
    const worker = this.#worker;
    this.#tasks += 1;
    worker.ref();
    let unlisten: (() => void) | undefined;
    try {
      return await new Promise<ThreadAnswer>((resolve, reject) => {
        const onExit = (): void => reject(new Error('The thread ended without an explanation.'));
        worker.once('message', resolve).once('error', reject).once('exit', onExit);
        unlisten = () => worker.off('message', resolve).off('error', reject).off('exit', onExit);
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread of Node has no origin
        worker.postMessage(task);
      });
    } finally {
      unlisten?.();
      worker.unref();
    }
  }

  async end(): Promise<void> {
    this.#hasEnded = true;
    await this.#worker.terminate();
  }
}

/** Time for which a thread waits for another task, with its loaded modules. */
const idleMs = 3 * 60_000;

/** Keeps one idle worker thread for reuse; it ends after a while, and when the gateway closes. */
export class IdleThread {
  readonly #clock: Clock;
  readonly #closing: AbortSignal;
  #thread: ThreadHandle | undefined;
  #cancel: () => void = () => undefined;

  constructor(clock: Clock, closing: AbortSignal) {
    this.#clock = clock;
    this.#closing = closing;
    closing.addEventListener('abort', () => void this.take()?.end(), { once: true });
  }

  get thread(): ThreadHandle | undefined {
    return this.#thread;
  }

  /** Takes the idle thread. */
  take(): ThreadHandle | undefined {
    this.#cancel();
    const thread = this.#thread;
    this.#thread = undefined;
    return thread;
  }

  /** Keeps a thread, unless there is one already. */
  keep(thread: ThreadHandle): void {
    if (this.#thread || !thread.isUsable || this.#closing.aborted) return;
    this.#thread = thread;
    this.#cancel = this.#clock.setTimer(() => void this.take()?.end(), idleMs);
  }
}
