import { hash } from 'node:crypto';

/** Variant of a session: `candidate` gets the new config; `control` keeps the one in force, for comparison. */
export type CanarySide = 'candidate' | 'control';

/** Digest of a session under one canary: the same on all instances, and different in the next canary. */
export function unitOf(canaryId: string, session: string): string {
  return hash('sha256', `${canaryId}\0${session}`, 'hex').slice(0, 32);
}

/**
 * Variant of a session by its digest: two equal shares of all sessions, so that a session of either is the candidate's
 * with a probability of 1/2; undefined for the rest. `percent`: up to 50.
 */
export function sideOf(unit: string, percent: number): CanarySide | undefined {
  const at = (Number.parseInt(unit.slice(0, 12), 16) / 2 ** 48) * 100;
  if (at < percent) return 'candidate';
  return at < 2 * percent ? 'control' : undefined;
}
