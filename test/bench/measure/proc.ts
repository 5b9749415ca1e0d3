import { readdir, readFile } from 'node:fs/promises';

/** User and system milliseconds by thread, of all threads of these processes, as Linux counts them. */
export async function threadTimes(pids: readonly number[]): Promise<ReadonlyMap<number, number>> {
  const times = await Promise.all(pids.map(timesOf));
  return new Map(times.flat());
}

async function timesOf(pid: number): Promise<readonly (readonly [thread: number, ms: number])[]> {
  const threads = await readdir(`/proc/${pid}/task`);
  return Promise.all(threads.map(async (thread) => [Number(thread), await threadMs(pid, thread)] as const));
}

async function threadMs(pid: number, thread: string): Promise<number> {
  const folder = `/proc/${pid}/task/${thread}`;
  try {
    return runMs(await readFile(`${folder}/schedstat`, 'utf8'));
  } catch {
    return ticksMs(await readFile(`${folder}/stat`, 'utf8')); // a kernel without the other
  }
}

/** Of a thread's `schedstat`: exact to the nanosecond. */
export function runMs(schedstat: string): number {
  return Number(schedstat.split(' ', 1)[0]) / 1e6;
}

/** Of a thread's `stat`, which counts in ticks of 10 ms. */
export function ticksMs(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Memory of processes. */
export interface Memory {
  readonly rssMb: number;
  /** Without mapped files: heap, buffers, stacks. */
  readonly anonymousMb: number;
}

/** A process, and all that it has started. */
export async function memoryOfTree(pid: number): Promise<Memory> {
  const pids = await treeOf(pid);
  const texts = await Promise.all(pids.map((each) => readFile(`/proc/${each}/status`, 'utf8')));
  const parts = texts.map(memoryIn);
  return {
    rssMb: parts.reduce((sum, { rssMb }) => sum + rssMb, 0),
    anonymousMb: parts.reduce((sum, { anonymousMb }) => sum + anonymousMb, 0),
  };
}

/** Of `/proc/PID/status`. */
export function memoryIn(status: string): Memory {
  return { rssMb: megabytes(status, 'VmRSS'), anonymousMb: megabytes(status, 'RssAnon') };
}

function megabytes(status: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? NaN) / 1024;
}

/** The ids of a process, and of all that it has started. */
export async function treeOf(pid: number): Promise<readonly number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const children = text.split(' ').filter(Boolean).map(Number);
  return [pid, ...(await Promise.all(children.map(treeOf))).flat()];
}
