import type { Lab, Server } from '../measure/lab.js';
import type { Ask } from '../workloads.js';

/** Who can be measured. */
export const targetNames = ['direct', 'pass-through', 'gateway', 'nginx', 'portkey'] as const;
export type TargetName = (typeof targetNames)[number];

/** A server that the load generator can ask. */
export interface Target {
  /** The first of its processes: what it starts is counted with it. */
  readonly pid: number;
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  /** When its process was begun, by `performance.now()`. */
  readonly spawnedMs: number;
  readonly address: (ask: Ask) => Address;
}

/** A server as a target. */
export function targetAt({ child, origin, spawnedMs }: Server, address: Target['address']): Target {
  return { pid: child.pid ?? 0, origin, spawnedMs, address };
}

/** Where a request goes, and what it carries besides its body. */
export interface Address {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Starts a target in front of the scripted upstream. */
export type StartTarget = (lab: Lab, upstream: string) => Promise<Target>;

export const json = { 'content-type': 'application/json' } as const;
