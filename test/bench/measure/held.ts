import type { ChildProcess } from 'node:child_process';
import { nextMessage } from './lab.js';
import { memoryOfTree } from './proc.js';

/** Memory of a gateway in bytes. */
export interface Held {
  readonly rss: number;
  /** JavaScript objects in use. */
  readonly heap: number;
  /** Buffers, and what else V8 knows of outside its heap. */
  readonly buffers: number;
}

/** Memory of a gateway that was started with the probe: its RSS as it is, the rest after a collection. */
export async function heldBy(child: ChildProcess): Promise<Held> {
  const { rssMb } = await memoryOfTree(child.pid ?? 0);
  const answered = nextMessage(child);
  child.send('memory');
  const [{ heapUsed, external }] = (await answered) as [NodeJS.MemoryUsage]; // what the probe sends
  return { rss: rssMb * 1024 * 1024, heap: heapUsed, buffers: external };
}
