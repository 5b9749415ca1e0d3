import { evidenceOf, falseAlarmRate } from '#src/features/canary/evidence.js';

/** World in which a canary runs. */
export interface World {
  /** Share of sessions with a failure on each side. */
  readonly control: number;
  readonly candidate: number;
  readonly sessions: number;
}

/** Number of the session at which a canary was given up, looked at after each failure; undefined: it was not. */
export function givenUpAt(world: World, random: () => number): number | undefined {
  const failed = { candidate: 0, control: 0 };
  for (let session = 0; session < world.sessions; session += 1) {
    const side = random() < 0.5 ? 'candidate' : 'control';
    if (random() >= world[side]) continue;
    failed[side] += 1;
    if (evidenceOf(failed) >= 1 / falseAlarmRate) return session;
  }
  return undefined;
}

/** Random numbers from 0 to 1, the same for a seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
