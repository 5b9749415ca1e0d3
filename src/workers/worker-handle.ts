import cluster, { type Worker } from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import { RpcChannel } from '../live/ipc/rpc-channel.js';
import type { Measurement } from '../telemetry/metrics.js';
import { hangUpOnUnaccepted } from './pending-connections.js';
import type { Failure } from '../cli/usage-error.js';
import { wireToWorker } from './message-port.js';

export interface End {
  /** It has listened. */
  readonly hasServed: boolean;
  readonly livedMs: number;
  readonly code: number | null;
  readonly signal: string | null;
  /** What it said was wrong. */
  readonly failure: Failure | undefined;
}

/** A worker process, as the primary sees it. */
export class Member {
  readonly name: string;
  readonly line: RpcChannel;
  /** Where it listens; undefined where it has ended before. */
  readonly listening: Promise<string | undefined>;
  readonly ended: Promise<End>;
  /** Settles when another one is to take its place: it has ended, or is about to. */
  readonly left: Promise<unknown>;
  /** It has been told what to do. */
  hasBegun = false;
  /** It takes nothing new, and ends when what is under way has. */
  isLeaving = false;
  readonly #worker: Worker;
  #measured: readonly Measurement[] = [];

  constructor(name: string) {
    this.name = name;
    const bornMs = performance.now();
    this.#worker = cluster.fork();
    hangUpOnUnaccepted(this.#worker.process);
    this.line = new RpcChannel(wireToWorker(this.#worker.process));
    let failure: Failure | undefined;
    let hasServed = false;
    this.line.on('crew.failed', (told: Failure | null) => {
      failure = told ?? undefined;
    });
    const listening = new Promise<string>((resolve) => {
      this.line.on('crew.listening', (url: string) => {
        hasServed = true;
        resolve(url);
      });
    });
    this.ended = new Promise((resolve) => {
      const end = (code: number | null, signal: string | null): void =>
        resolve({ hasServed, livedMs: performance.now() - bornMs, code, signal, failure });
      this.#worker.on('exit', end);
      this.#worker.on('error', () => {
        // Without a process there is no `exit`; else a message was too late for a worker that is about to be told of.
        if (this.pid === undefined) end(null, null);
      });
    });
    const leaving = new Promise((resolve) => {
      this.line.on('crew.leaving', () => {
        this.isLeaving = true;
        resolve(null);
      });
    });
    this.left = Promise.race([leaving, this.ended]);
    this.listening = Promise.race([listening, this.ended.then(() => undefined)]);
  }

  get pid(): number | undefined {
    return this.#worker.process.pid;
  }

  /** What it has measured, as last heard. */
  get measured(): readonly Measurement[] {
    return this.#measured;
  }

  /** Asks again, and does not wait for one that is stuck. */
  async measure(): Promise<readonly Measurement[]> {
    const ofLastTime = () => this.#measured;
    const asked = this.line.ask<readonly Measurement[]>('worker.measure').catch(ofLastTime); // it has gone
    const patience = delay(patienceMs, undefined, { ref: false }).then(ofLastTime);
    this.#measured = await Promise.race([asked, patience]);
    return this.#measured;
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }
}

/** How long a scrape waits for a worker. */
const patienceMs = 2000;
