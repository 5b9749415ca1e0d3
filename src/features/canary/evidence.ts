/** Sessions with a failure in each variant. */
export interface FailedSessions {
  readonly candidate: number;
  readonly control: number;
}

/** Probability of rolling back a candidate that is not worse, over all evaluations together. */
export const falseAlarmRate = 0.01;

/** Assumed shares of a worse candidate in all failures: from slightly to nearly all. */
const assumedShares = [0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99] as const;

/**
 * Evidence that the candidate fails more than the control: the mean likelihood ratio of the assumed shares against 1/2,
 * an e-value. Without a difference a failed session is in either variant with equal probability, so the chance that the
 * evidence ever reaches `1 / falseAlarmRate` is at most `falseAlarmRate` (Ville's inequality), however often it is
 * evaluated.
 */
export function evidenceOf({ candidate, control }: FailedSessions): number {
  const ratios = assumedShares.map((share) =>
    Math.exp(candidate * Math.log(2 * share) + control * Math.log(2 * (1 - share))),
  );
  return ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length;
}

/** True once the evidence suffices to roll the candidate back. */
export function isClearlyWorse(failed: FailedSessions): boolean {
  return evidenceOf(failed) >= 1 / falseAlarmRate;
}
