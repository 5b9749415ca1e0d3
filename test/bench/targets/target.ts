import type { ChildProcess } from 'node:child_process';
import type { Lab, Server } from '../measure/lab.js';
import type { Ask } from '../workloads.js';

/** All targets, in the order of a round: the builds stand beside each other. */
export const targetNames = [
  'direct',
  'pass-through',
  'old',
  'gateway',
  'chat',
  'traced',
  'old again',
  'nginx',
  'portkey',
] as const;
export type TargetName = (typeof targetNames)[number];

/**
 * The gateway over an upstream that speaks Chat, and the one that sends traces of a tenth of its requests; measured
 * where they are named.
 */
export const namedAlone: ReadonlySet<TargetName> = new Set(['chat', 'traced']);

/** Targets of `--against`: the other build, and the same once more, whose ratio to the first is the resolution. */
export const oldNames: ReadonlySet<TargetName> = new Set(['old', 'old again']);

/** A server that the load generator can ask. */
export interface Target {
  readonly child: ChildProcess;
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
  return { child, pid: child.pid ?? 0, origin, spawnedMs, address };
}

/** Path of a request, and its headers. */
export interface Address {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Starts a target in front of the scripted upstream; a build of the gateway with the probe, if that is asked for. */
export type StartTarget = (lab: Lab, upstream: string, isProbed?: boolean) => Promise<Target>;

export const json = { 'content-type': 'application/json' } as const;
