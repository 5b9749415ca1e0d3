/** Sessions with a failure on each side. */
export interface FailedSessions {
  readonly candidate: number;
  readonly control: number;
}

/** Probability of rolling back a candidate that is no worse, over all looks together. */
export const falseAlarmRate = 0.01;

/** Assumed shares of the candidate in all failures where it is worse: from slightly to nearly all. */
const assumedShares = [0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99] as const;

/**
 * Evidence that the candidate fails more than the control: the mean likelihood ratio of the assumed shares against 1/2,
 * an e-value. Without a difference, a session that fails is on either side with the same probability, whatever its
 * requests have in common; so the chance that the evidence ever reaches `1 / falseAlarmRate` is at most `falseAlarmRate`
 * (Ville's inequality), however often it is looked at.
 */
export function evidenceOf({ candidate, control }: FailedSessions): number {
  const ratios = assumedShares.map((share) =>
    Math.exp(candidate * Math.log(2 * share) + control * Math.log(2 * (1 - share))),
  );
  return ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length;
}

/** True once the evidence suffices to give the candidate up. */
export function isClearlyWorse(failed: FailedSessions): boolean {
  return evidenceOf(failed) >= 1 / falseAlarmRate;
}
