import { Worker } from 'node:worker_threads';
import type { ThreadAnswer, ThreadTask } from './thread-task.js';

/** Max heap of a thread that explains. */
const maxHeapMb = 512;

/** Max tasks of a thread, after which what plugins have left in it goes with it. */
const maxTasks = 100;

/** Thread that explains requests, one after another. It does not keep the process alive while it is idle. */
export class ExplainThread {
  readonly #worker = new Worker(new URL('../thread.js', import.meta.url), {
    workerData: { module: new URL('./thread.js', import.meta.url).href },
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  });
  #tasks = 0;
  #hasEnded = false;

  constructor() {
    this.#worker.on('error', () => undefined); // `exit` follows
    this.#worker.once('exit', () => (this.#hasEnded = true));
  }

  /** True where it can take another task. */
  get isUsable(): boolean {
    return !this.#hasEnded && this.#tasks < maxTasks;
  }

  /** Rejects where the thread breaks down. */
  async run(task: ThreadTask): Promise<ThreadAnswer> {
    const worker = this.#worker;
    this.#tasks += 1;
    worker.ref();
    let unlisten: (() => void) | undefined;
    try {
      return await new Promise<ThreadAnswer>((resolve, reject) => {
        const onExit = (): void => reject(new Error('The thread has ended without an explanation.'));
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
