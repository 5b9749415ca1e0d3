import { readdir, readFile } from 'node:fs/promises';

/** User and system time of one process with all its threads, as Linux counts it. */
export async function cpuMsOf(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const texts = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '')),
  );
  if (texts.every((text) => text === '')) return ticksMs(await readFile(`/proc/${pid}/stat`, 'utf8'));
  return texts.reduce((sum, text) => sum + runMs(text), 0);
}

/** Of `/proc/PID/task/TID/schedstat`: exact to the nanosecond, where `stat` counts in ticks of 10 ms. */
export function runMs(schedstat: string): number {
  return Number(schedstat.split(' ', 1)[0]) / 1e6;
}

/** Of `/proc/PID/stat`, for kernels without the other. */
export function ticksMs(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** What a process keeps in memory. */
export interface Memory {
  readonly rssMb: number;
  /** Without mapped files: heap, buffers, stacks. */
  readonly anonymousMb: number;
}

export async function memoryOf(pid: number): Promise<Memory> {
  return memoryIn(await readFile(`/proc/${pid}/status`, 'utf8'));
}

/** Of `/proc/PID/status`. */
export function memoryIn(status: string): Memory {
  const mb = (field: string) =>
    Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? NaN) / 1024;
  return { rssMb: mb('VmRSS'), anonymousMb: mb('RssAnon') };
}

/** A process, and all that it has started. */
export async function treeOf(pid: number): Promise<readonly number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const children = text.split(' ').filter(Boolean).map(Number);
  return [pid, ...(await Promise.all(children.map(treeOf))).flat()];
}
