import type { ConfigProblem } from '../../config/config.js';
import type { WorkerHandle } from './worker-handle.js';

/** Problems of a config, or another failure of a worker. */
type Refusal = readonly ConfigProblem[] | Error;

/**
 * Asks a worker to prepare a config; undefined if it is ready. Also undefined if it has exited or is
 * leaving, because its replacement starts with the config of the others.
 */
export async function prepare(worker: WorkerHandle, text: string): Promise<Refusal | undefined> {
  const { channel } = worker;
  try {
    const problems = await channel.ask<readonly ConfigProblem[]>('worker.prepare', text);
    return problems.length > 0 ? problems : undefined;
  } catch (error) {
    if (channel.isClosed || worker.isLeaving) return undefined;
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Asks one worker after the other until one has not exited, and returns those that are left to ask. */
export async function firstToAnswer<Answer>(
  workers: readonly WorkerHandle[],
  ask: (worker: WorkerHandle) => Promise<Answer | undefined>,
): Promise<{ readonly answer: Answer | undefined; readonly rest: readonly WorkerHandle[] }> {
  for (const [at, worker] of workers.entries()) {
    const answer = await ask(worker);
    if (!worker.channel.isClosed) return { answer, rest: workers.slice(at + 1) };
  }
  return { answer: undefined, rest: [] };
}

/** Asks a worker; undefined if it has exited. */
export async function unlessGone<Answer>(
  { channel }: WorkerHandle,
  topic: string,
  value?: unknown,
): Promise<Answer | undefined> {
  try {
    return await channel.ask<Answer>(topic, value);
  } catch (error) {
    if (channel.isClosed) return undefined;
    throw error;
  }
}

export async function leaveAll(workers: readonly WorkerHandle[]): Promise<void> {
  await Promise.all(workers.map(({ channel }) => channel.ask('worker.leave').catch(() => undefined)));
}
