import { Worker } from 'node:worker_threads';
import { programUrl } from '../../kit/package-files.js';
import type { LogFormat } from '../../gateway/telemetry/logs.js';

/** Start options of the watchdog, as its thread gets them. */
export interface WatchOptions {
  /** Two Int32: the loop's counter, and 1 while an inspector is open. */
  readonly shared: SharedArrayBuffer;
  /** Time without progress after which the loop is stuck, in ms. */
  readonly stuckTimeoutMs: number;
  /** Time without progress after which the process is killed, in ms. */
  readonly killMs: number;
  readonly log: StuckLog;
}

/** The log as the thread writes it, bypassing the logger of the main thread. */
export interface StuckLog {
  readonly level: string;
  readonly format: LogFormat;
  /** Fields of each line. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Runs `begin(data)` of a module in an existing thread. */
export type RunModule = (url: string, data: unknown) => void;

interface WatchdogOptions {
  /** 0: no watchdog. */
  readonly stuckTimeoutMs: number;
  /** True: the process is killed at once, because another one replaces it. */
  readonly isWorker: boolean;
  readonly log: StuckLog;
  /** Undefined: the watchdog gets a thread of its own. */
  readonly runModule: RunModule | undefined;
}

/**
 * Watches the event loop of this process from another thread: logs its position if stuck for `stuckTimeoutMs`, and
 * kills the process, which no signal handler could end any more.
 */
export async function startWatchdog(options: WatchdogOptions): Promise<void> {
  const { stuckTimeoutMs, isWorker, log, runModule = runInThread } = options;
  if (stuckTimeoutMs === 0) return;
  const shared = new SharedArrayBuffer(8);
  await raise(new Int32Array(shared));
  const killMs = isWorker ? stuckTimeoutMs : Math.max(aloneMs, stuckTimeoutMs);
  runModule(watchModule, { shared, stuckTimeoutMs, killMs, log } satisfies WatchOptions);
}

/** Increments the counter for as long as the loop runs. */
async function raise(counter: Int32Array): Promise<void> {
  const { url } = await import('node:inspector');
  setInterval(() => {
    Atomics.add(counter, 0, 1);
    Atomics.store(counter, 1, url() === undefined ? 0 : 1);
  }, raiseMs).unref();
}

function runInThread(url: string, data: unknown): void {
  const worker = new Worker(programUrl('cli/watchdog/watch-thread.js'), {
    name: 'watchdog',
    execArgv: [], // without this process's own options, such as --input-type
    workerData: { url, data },
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: maxYoungHeapMb },
  });
  worker.on('error', () => undefined); // the process serves without it
  worker.unref();
}

const watchModule = programUrl('cli/watchdog/watch.js').href;

/** Interval at which the loop increments its counter, and at which the thread checks it. */
export const raiseMs = 250;

/** Time before a stuck process without siblings is killed. */
const aloneMs = 60_000;
const maxHeapMb = 64;
const maxYoungHeapMb = 4;
