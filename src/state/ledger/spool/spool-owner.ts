import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Process that has written a spool file. */
export interface SpoolOwner {
  /** Name of the host with, on Linux, its boot and PID namespace, within which a pid means something. */
  readonly host: string;
  readonly pid: number;
  /** Start of the process: clock ticks since the boot on Linux, elsewhere unix seconds. */
  readonly start: number;
}

/** Unknown for another host, or an ambiguous pid. */
export type OwnerState = 'alive' | 'dead' | 'unknown';

/** Processes that spool files may belong to. */
export interface SpoolProcesses {
  readonly own: SpoolOwner;
  stateOf(owner: SpoolOwner): OwnerState;
}

/** Processes of this machine. */
export function systemProcesses(): SpoolProcesses {
  const { pid } = process;
  const start = statusOf(pid)?.start ?? Math.round(Date.now() / 1000 - process.uptime());
  const own = { host: hostToken(), pid, start };
  return { own, stateOf: (owner) => stateOf(owner, own) };
}

function stateOf({ host, pid, start }: SpoolOwner, own: SpoolOwner): OwnerState {
  if (host !== own.host || pid === init) return 'unknown';
  if (pid === own.pid) return start === own.start ? 'unknown' : 'dead'; // another gateway of this process may be closed
  if (!isThere(pid)) return 'dead';
  const status = statusOf(pid);
  if (!status) return 'unknown';
  return status.isRunning && status.start === start ? 'alive' : 'dead';
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // it is another user's
  }
}

/** State of a process by `/proc`; undefined if that does not show it. */
function statusOf(pid: number): { readonly isRunning: boolean; readonly start: number } | undefined {
  const text = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  const [state = '', ...fields] = text.slice(text.lastIndexOf(') ') + 2).split(' ');
  const start = Number(fields[18]);
  return text && Number.isSafeInteger(start) ? { isRunning: !/^[ZXx]/.test(state), start } : undefined;
}

/** Letters, digits and `_`: the name of the host, and a hash of the scope of its pids. */
function hostToken(): string {
  const boot = attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'));
  const namespace = attempt(() => readlinkSync('/proc/self/ns/pid'));
  const hash = createHash('sha256').update([hostname(), boot, namespace].join('\n')).digest('hex');
  return `${hostname().replaceAll(/\W/g, '_').slice(0, 40)}_${hash.slice(0, 8)}`;
}

function attempt(read: () => string): string {
  try {
    return read();
  } catch {
    return ''; // not on Linux
  }
}

/** Pid that every container has. */
const init = 1;
