import type { ConfigProblem } from '../../../config/config.js';
import { LateError, within } from '../../../kit/time/within.js';
import { faultOf, problemOf, type ReadyStage } from './set-up.js';

/** Starts stages, all at once and each within the time limit; returns their problems. */
export async function startAll(
  stages: readonly ReadyStage[],
  timeoutMs: number,
): Promise<readonly ConfigProblem[]> {
  const found = await Promise.all(stages.map((stage) => start(stage, timeoutMs)));
  return found.flat();
}

async function start(stage: ReadyStage, timeoutMs: number): Promise<readonly ConfigProblem[]> {
  const { start } = stage.parts;
  if (!start) return [];
  const late = `did not start within ${timeoutMs / 1000} s: its start waits for something that never happens`;
  try {
    await within((async () => start())(), timeoutMs, late);
    return [];
  } catch (error) {
    const why = error instanceof LateError ? error.message : `cannot be started: ${faultOf(error)}`;
    return [problemOf(stage, why)];
  }
}
