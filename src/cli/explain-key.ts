import { defaultName } from '../dry/keys.js';
import type { DrySettings } from '../dry/settings.js';
import { didYouMean, windowLimits, type WindowLimit } from '../plugin/internal.js';
import { UsageError } from '../gateway/start-failure.js';

interface GivenKey {
  /** Name of the key; `none` for a caller without one. */
  readonly as: string | undefined;
  /** `LIMIT=AMOUNT` each. */
  readonly limits: readonly string[];
  /** `LIMIT=AMOUNT` each. */
  readonly used: readonly string[];
}

/** The key of the request, with its limits and their use. Throws a UsageError. */
export function keysOf({ as = defaultName, limits, used }: GivenKey): NonNullable<DrySettings['keys']> {
  const own = amountsOf('--key-limit', limits, 1);
  const uses = amountsOf('--used', used, 0).map(([limit, amount]) => [limit, { used: amount }]);
  return { [as]: { ...Object.fromEntries(own), used: Object.fromEntries(uses) } };
}

function amountsOf(
  option: string,
  given: readonly string[],
  least: number,
): readonly (readonly [limit: WindowLimit, amount: number])[] {
  return given.map((each) => {
    const [, name = '', digits = ''] = /^(\w+)=(\d{1,15})$/.exec(each) ?? [];
    const limit = windowLimits.find((known) => known === name);
    const amount = Number(digits);
    if (limit && amount >= least) return [limit, amount];
    const meant = limit ? undefined : didYouMean(name, windowLimits);
    const cure = meant === undefined ? `limits are ${windowLimits.join(', ')}` : `did you mean ${meant}`;
    throw new UsageError(`${option} takes LIMIT=AMOUNT, not ${JSON.stringify(each)}; ${cure}.`);
  });
}
