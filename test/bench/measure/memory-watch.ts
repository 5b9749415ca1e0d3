import { setTimeout as sleep } from 'node:timers/promises';
import { memoryOfTree, type Memory } from './proc.js';

/** The most that a process and its children have kept in memory while `work` was under way. */
export async function peakDuring(pid: number, work: Promise<unknown>): Promise<Memory> {
  const over = new AbortController();
  const settled = work.then(
    () => over.abort(),
    () => over.abort(), // thrown below
  );
  const samples: Memory[] = [];
  while (!over.signal.aborted) {
    samples.push(await memoryOfTree(pid));
    await Promise.race([settled, sleep(50)]);
  }
  await work;
  return {
    rssMb: Math.max(...samples.map(({ rssMb }) => rssMb)),
    anonymousMb: Math.max(...samples.map(({ anonymousMb }) => anonymousMb)),
  };
}
