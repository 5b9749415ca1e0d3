import type { Problem } from '../config/config.js';

/** What a worker is told when it begins. */
export interface WorkerInit {
  /** Of the worker; whoever takes its place when it has gone has the same. */
  readonly name: string;
  readonly file: string;
  /** What the config file said when the config that runs was taken: what it says by now may wait for a reload. */
  readonly text: string;
  readonly masterKey: string;
  readonly logLevel: string;
  readonly startedMs: number;
  /** What workers share is in the primary; else each finds the others by itself. */
  readonly isHub: boolean;
}

/** What has come of a reload; with problems, all keep the old config. */
export interface Reloaded {
  readonly problems: readonly Problem[];
  readonly needsRestart: readonly string[];
}
