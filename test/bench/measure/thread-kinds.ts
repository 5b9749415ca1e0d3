import { readdir, readFile } from 'node:fs/promises';

/** Kinds of threads whose cost is told apart. Node 20 calls all of them `node`. */
export type ThreadKind = 'main' | 'SQLite' | 'V8' | 'other';

/** Kinds of the threads of these processes, by thread. */
export async function threadKinds(pids: readonly number[]): Promise<ReadonlyMap<number, ThreadKind>> {
  return new Map((await Promise.all(pids.map(kindsOf))).flat());
}

async function kindsOf(pid: number): Promise<readonly (readonly [thread: number, kind: ThreadKind])[]> {
  const threads = (await readdir(`/proc/${pid}/task`)).map(Number);
  return Promise.all(
    threads.map(async (thread) => {
      if (thread === pid) return [thread, 'main'] as const;
      return [thread, kindIn(await readFile(`/proc/${pid}/task/${thread}/comm`, 'utf8'))] as const;
    }),
  );
}

/** Kind by the content of a thread's `comm`. */
export function kindIn(comm: string): ThreadKind {
  return kinds[comm.trim()] ?? 'other';
}

const kinds: Readonly<Record<string, ThreadKind>> = { sqlite: 'SQLite', V8Worker: 'V8' };

/** Sums of times by kind; a kind that no thread has is missing. */
export function timesByKind(
  times: ReadonlyMap<number, number>,
  kindOf: ReadonlyMap<number, ThreadKind>,
): Readonly<Partial<Record<ThreadKind, number>>> {
  const sums: Partial<Record<ThreadKind, number>> = {};
  for (const [thread, time] of times) {
    const kind = kindOf.get(thread) ?? 'other';
    sums[kind] = (sums[kind] ?? 0) + time;
  }
  return sums;
}
