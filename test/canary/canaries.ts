import { evidenceOf, falseAlarmRate, minRequests } from '#src/canary/index.js';
import { sideOf, unitOf } from '#src/canary/side.js';

/** World in which a canary runs. */
export interface World {
  /** Share of sessions with a failure on each side. */
  readonly control: number;
  readonly candidate: number;
  /** Mean number of requests in a session. */
  readonly requests: number;
  readonly sessions: number;
}

/** Number of the session at which a canary was given up; undefined: it was not. */
export function givenUpAt(world: World, canaryId: string, random: () => number): number | undefined {
  const failed = { candidate: 0, control: 0 };
  const requests = { candidate: 0, control: 0 };
  for (let session = 0; session < world.sessions; session += 1) {
    const side = sideOf(unitOf(canaryId, `session ${session}`), 50);
    if (!side) continue;
    requests[side] += 1 + Math.floor(-Math.log(1 - random()) * (world.requests - 1));
    if (random() < world[side]) failed[side] += 1;
    if (Math.min(requests.candidate, requests.control) < minRequests) continue;
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
