import type { Ask } from '../workloads.js';
import type { Manners } from './exchange.js';

/** One job of the load generator. */
export interface Job extends Pick<Manners, 'bytesPerMs'> {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Its script is the one that every answer is compared with. */
  readonly ask: Ask;
  readonly requests: number;
  /** Requests at a time, each on a connection of its own. */
  readonly concurrency: number;
  /** Time over which these begin. Default: all at once. */
  readonly rampMs?: number;
}

/** Result of a job. All answers were complete, or there is a `failure`. */
export interface JobResult {
  readonly wallMs: number;
  /** User and system time of the load generator. */
  readonly cpuMs: number;
  /** From a request to the first byte of its answer's body. */
  readonly firstByteMs: Spread;
  /** From the sending of a delta by the upstream to its arrival, where the script says its times. */
  readonly delayMs?: Spread;
  readonly failure?: string;
}

export interface Spread {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}
