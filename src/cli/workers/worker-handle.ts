import cluster, { type Worker } from 'node:cluster';
import type { ChildProcess } from 'node:child_process';
import { within } from '../../kit/time/within.js';
import { RpcChannel } from './ipc/rpc-channel.js';
import type { Measurement } from '../../gateway/telemetry/metrics.js';
import type { Failure } from '../../gateway/start-failure.js';
import { portToWorker } from './message-port.js';

export interface End {
  /** True if the worker has listened. */
  readonly hasServed: boolean;
  readonly livedMs: number;
  readonly code: number | null;
  readonly signal: string | null;
  /** Failure reported by the worker before it exited. */
  readonly failure: Failure | undefined;
}

/** Handle of one worker process, held by the primary. */
export class WorkerHandle {
  readonly name: string;
  readonly channel: RpcChannel;
  /** URL on which it listens; undefined if it exited before. */
  readonly listening: Promise<string | undefined>;
  readonly ended: Promise<End>;
  /** Settles when a replacement is due: the worker has exited, or is about to. */
  readonly leaving: Promise<unknown>;
  /** True once the worker got its `WorkerInit`. */
  hasBegun = false;
  /** True while it drains: it accepts no new requests, and exits after those in flight. */
  isLeaving = false;
  readonly #worker: Worker;
  #measured: readonly Measurement[] = [];
  #totals: readonly Measurement[] = [];
  #silentMs = 0;
  #isListening = false;

  constructor(name: string) {
    this.name = name;
    const bornMs = performance.now();
    this.#worker = cluster.fork();
    closePendingConnections(this.#worker.process);
    this.channel = new RpcChannel(portToWorker(this.#worker.process));
    let failure: Failure | undefined;
    let hasServed = false;
    this.channel.on('pool.failed', (failed: Failure | null) => {
      failure = failed ?? undefined;
    });
    const listening = new Promise<string>((resolve) => {
      this.channel.on('pool.listening', (url: string) => {
        hasServed = true;
        this.#isListening = true;
        resolve(url);
      });
    });
    this.channel.on('pool.totals', (totals: readonly Measurement[]) => void (this.#totals = totals));
    this.channel.on('pool.sign', () => void (this.#silentMs = 0));
    this.ended = new Promise((resolve) => {
      const end = (code: number | null, signal: string | null): void =>
        resolve({ hasServed, livedMs: performance.now() - bornMs, code, signal, failure });
      this.#worker.on('exit', end);
      this.#worker.on('error', () => {
        // Without a pid no `exit` follows. Otherwise a message was too late for a worker whose `exit`
        // follows.
        if (this.pid === undefined) end(null, null);
      });
    });
    const leaving = new Promise((resolve) => {
      this.channel.on('pool.leaving', () => {
        this.isLeaving = true;
        resolve(null);
      });
    });
    this.leaving = Promise.race([leaving, this.ended]);
    this.listening = Promise.race([listening, this.ended.then(() => undefined)]);
  }

  get pid(): number | undefined {
    return this.#worker.process.pid;
  }

  /** Last counters and histograms received from the worker. */
  get totals(): readonly Measurement[] {
    return this.#totals;
  }

  /** Requests new measurements with a timeout; returns the last ones if the worker does not answer. */
  async measure(): Promise<readonly Measurement[]> {
    const asked = this.channel.ask<readonly Measurement[]>('worker.measure');
    const measured = await within(asked, timeoutMs, 'It does not answer.').catch(() => undefined);
    if (measured) this.#measured = this.#totals = measured;
    return this.#measured;
  }

  /** Adds to the time for which its loop has not responded, and returns it in ms; 0 before it listens. */
  tick(ms: number): number {
    if (this.#isListening) this.#silentMs += ms;
    return this.#silentMs;
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }
}

/** Timeout of a scrape for one worker. */
const timeoutMs = 2000;

/** Message by which the cluster module passes a connection to a worker. */
interface ClusterMessage {
  readonly act?: string;
  readonly seq?: number;
}

interface Handle {
  close(): void;
}

/**
 * Closes connections that were on their way to a worker when it died. The cluster module holds each of them
 * until the worker acknowledges it, so without this their callers would wait without end.
 */
function closePendingConnections(worker: ChildProcess): void {
  const inTransit = new Map<number, Handle>();
  let hasExited = false;
  const send = worker.send.bind(worker) as (...args: readonly unknown[]) => boolean; // called with the arguments of node:cluster
  worker.send = (...args: readonly unknown[]) => {
    const [{ act, seq }, handle] = args as [ClusterMessage, Handle | undefined];
    if (act === 'newconn' && seq !== undefined && handle) inTransit.set(seq, handle);
    const isSent = send(...args);
    if (hasExited) closeAll(); // node:cluster releases them at `disconnect`, which may never be emitted
    return isSent;
  };
  worker.on('internalMessage', ({ ack }: { readonly ack?: number }) => {
    if (ack !== undefined) inTransit.delete(ack);
  });
  const closeAll = () => {
    for (const handle of inTransit.values()) handle.close();
    inTransit.clear();
  };
  worker.on('exit', () => {
    hasExited = true;
    closeAll();
  });
}
