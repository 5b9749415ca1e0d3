import { primary, type Answer, type FailoverBench, type Mode } from './bench.js';
import { textOf } from './provider-call.js';

/** Time for which the primary provider is down. */
export const outageMs = 60_000;

const requests = 20;
const backWithinMs = 30_000;

/** Asks twenty times while the primary is down, then until it answers, for 30 s at most. */
export async function throughAnOutage(bench: FailoverBench, mode: Mode): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (let nth = 0; nth < requests; nth += 1) {
    answers.push(await bench.ask(mode));
    await bench.wait(outageMs / requests);
  }
  const startedMs = performance.now();
  do {
    answers.push(await bench.ask(mode));
    if (answers.at(-1)?.text === textOf(primary)) break;
    await bench.wait(1000);
  } while (performance.now() - startedMs < backWithinMs);
  return answers;
}
