import { readFile, stat } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Config } from '../../config/config.js';
import { finding, sizeText, type Finding, type Patient } from './finding.js';
import { counted } from '../../kit/plural.js';
import { dayMs } from '../../kit/time/clock.js';

/** Lowest version of Node, as `engines` of package.json has it. */
const oldestNode = [20, 19] as const;

/** Version of Node. */
export function nodeVersion(version: string = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1]);
  const problem = isOld ? `${version} is too old: install Node ${oldestNode.join('.')} or newer` : undefined;
  return finding('node', version, { problem });
}

/** Memory of the machine, or of the container. */
export function memory({ config }: Patient): Finding {
  const limit = process.constrainedMemory();
  const total = limit && limit < totalmem() ? limit : totalmem();
  const free = Math.min(process.availableMemory(), total);
  const processes = workersOf(config) + (workersOf(config) > 1 ? 1 : 0);
  const needed = processes * bytesEach;
  const text = `${sizeText(free)} of ${sizeText(total)} free`;
  const cure = `${text}, and ${counted(processes, 'process', 'processes')} may need ${sizeText(needed)}: give it more, or fewer listen.workers`;
  return finding('memory', text, { warning: free < needed ? cure : undefined });
}

/** An active process with some streams. */
const bytesEach = 256e6;

/** Number of processes that serve. */
export function workersOf({ listen: { workers } }: Config): number {
  return workers === 'auto' ? availableParallelism() : workers;
}

/** Max open files of a process; only Linux reports it. */
export async function descriptors({ config }: Patient): Promise<Finding> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => ''); // another system
  const [, , hard] = /^Max open files\s+(\S+)\s+(\S+)/m.exec(limits) ?? [];
  if (hard === undefined) return { name: 'open files', state: 'skipped', text: 'unknown on this system' };
  const { maxConnections } = config.listen;
  const needed = 2 * maxConnections;
  const warning = `${hard} are allowed, and ${maxConnections} connections (listen.maxConnections) may need ${needed}: raise LimitNOFILE or ulimit -n`;
  return finding('open files', `${hard} allowed`, {
    warning: hard !== 'unlimited' && Number(hard) < needed ? warning : undefined,
  });
}

/** The clock, beside the date of this program and other clocks by their names. */
export async function clock(others: ReadonlyMap<string, number>, nowMs = Date.now()): Promise<Finding> {
  const text = new Date(nowMs).toISOString();
  const { mtimeMs } = await stat(fileURLToPath(import.meta.url));
  if (nowMs < mtimeMs - dayMs)
    return finding('clock', text, { problem: `${text} is before this program was installed: set the clock` });
  const far = [...others].find(([, ms]) => Math.abs(ms - nowMs) > maxDifferenceMs);
  const warning =
    far &&
    `${text} is ${Math.round(Math.abs(far[1] - nowMs) / 1000)} s away from the clock of ${far[0]}: set one of them`;
  return finding('clock', text, { warning });
}

const maxDifferenceMs = 60_000;
