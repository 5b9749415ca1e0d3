import type { Caller } from './caller.js';
import type { Random } from '../../support/seeded.js';
import type { Visit } from './visits.js';

/** Outcomes by kind of visit. */
export class Tally {
  readonly counts = new Map<string, { done: number; failed: number }>();
  /** The first failures, which say enough. */
  readonly failures: string[] = [];

  add(visit: string, failure?: string): void {
    const count = this.counts.get(visit) ?? { done: 0, failed: 0 };
    this.counts.set(visit, count);
    count.done += 1;
    if (failure === undefined) return;
    count.failed += 1;
    if (this.failures.length < 20) this.failures.push(`${visit}: ${failure}`);
  }
}

/** Visits at random, so many at a time, until `untilMs` of `performance.now()`. */
export async function traffic(
  caller: Caller,
  visits: readonly Visit[],
  tally: Tally,
  { lanes, untilMs, random }: { readonly lanes: number; readonly untilMs: number; readonly random: Random },
): Promise<void> {
  const lane = async (): Promise<void> => {
    while (performance.now() < untilMs) {
      const visit = weighted(visits, random);
      await visit.run(caller, random).then(
        () => tally.add(visit.name),
        (error: unknown) => tally.add(visit.name, String(error)),
      );
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

function weighted(visits: readonly Visit[], random: Random): Visit {
  const total = visits.reduce((sum, { weight }) => sum + weight, 0);
  let left = random() * total;
  const chosen = visits.find(({ weight }) => (left -= weight) < 0) ?? visits[0];
  if (!chosen) throw new Error('There is nothing to do.');
  return chosen;
}
