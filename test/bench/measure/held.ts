import type { ChildProcess } from 'node:child_process';
import { askProbe } from './ask-probe.js';
import { memoryOfTree } from './proc.js';

/** Memory of a process in bytes. */
export interface Held {
  readonly rss: number;
  /** JavaScript objects in use. */
  readonly heap: number;
  /** Buffers, and what else V8 knows of outside its heap. */
  readonly buffers: number;
}

/** Memory of a process that was started with the probe: its RSS as it is, the rest after a collection. */
export async function heldBy(child: ChildProcess): Promise<Held> {
  const { rssMb } = await memoryOfTree(child.pid ?? 0);
  const { heapUsed, external } = (await askProbe(child, { probe: 'memory' })) as NodeJS.MemoryUsage; // as it answers
  return { rss: rssMb * 1024 * 1024, heap: heapUsed, buffers: external };
}
