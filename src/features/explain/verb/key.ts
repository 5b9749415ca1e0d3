import { defaultName, masterName } from '../../dry-run/keys.js';
import type { DrySettings } from '../../dry-run/settings.js';
import { didYouMean } from '../../../kit/schema/did-you-mean.js';
import { windowLimits } from '../../../plugin/index.js';
import type { WindowLimit } from '../../../plugin/core.js';
import { UsageError } from '../../../gateway/start-failure.js';

/** Options about the key of the request. */
export interface GivenKey {
  /** Name of the key; `none` for a caller without one. */
  readonly as?: string;
  /** `LIMIT=AMOUNT` each. */
  readonly 'key-limit'?: readonly string[];
  /** `LIMIT=AMOUNT` each: their use at the request's arrival. */
  readonly used?: readonly string[];
  /** `LIMIT=AMOUNT` each: limits of its team. */
  readonly 'team-limit'?: readonly string[];
  /** `LIMIT=AMOUNT` each. */
  readonly 'team-used'?: readonly string[];
}

/** Name of the team of a key whose team has limits. */
const teamName = 'team';

/** The key of the request and its team, with their limits and the use of these. Throws a UsageError. */
export function keysOf({
  as = defaultName,
  ...given
}: GivenKey): Required<Pick<DrySettings, 'keys' | 'teams'>> {
  const option = limitOptions.find((each) => given[each] !== undefined);
  if (option !== undefined && (as === masterName || as === 'none'))
    throw new UsageError(`--${option} needs a key that has limits, not --as ${as}.`);
  const key = termsOf(given, 'key-limit', 'used');
  const hasTeam = [...(given['team-limit'] ?? []), ...(given['team-used'] ?? [])].length > 0;
  return {
    keys: { [as]: { ...key, ...(hasTeam && { team: teamName }) } },
    teams: hasTeam ? { [teamName]: termsOf(given, 'team-limit', 'team-used') } : {},
  };
}

const limitOptions = ['key-limit', 'used', 'team-limit', 'team-used'] as const;

function termsOf(given: GivenKey, limitOption: 'key-limit' | 'team-limit', usedOption: 'used' | 'team-used') {
  const own = amountsOf(`--${limitOption}`, given[limitOption] ?? [], 'above 0');
  const uses = amountsOf(`--${usedOption}`, given[usedOption] ?? [], 'of at least 0');
  return {
    ...Object.fromEntries(own),
    used: Object.fromEntries([...uses].map(([limit, amount]) => [limit, { used: amount }])),
  };
}

/** Amount of each limit. Throws a UsageError on a limit that is named twice. */
function amountsOf(option: string, given: readonly string[], range: Range): ReadonlyMap<WindowLimit, number> {
  const amounts = new Map<WindowLimit, number>();
  for (const each of given) {
    const [limit, amount] = amountOf(option, each, range);
    if (amounts.has(limit)) throw new UsageError(`${option} names ${limit} more than once.`);
    amounts.set(limit, amount);
  }
  return amounts;
}

type Range = 'above 0' | 'of at least 0';

function amountOf(option: string, given: string, range: Range): readonly [WindowLimit, number] {
  const [, name = '', digits = ''] = /^(\w+)=(\d{1,15}(?:\.\d{1,9})?)$/.exec(given) ?? [];
  const limit = windowLimits.find((known) => known === name);
  const amount = Number(digits);
  const isUsd = limit?.startsWith('usd') === true;
  const isInRange = amount > 0 || range === 'of at least 0';
  if (limit && digits !== '' && isInRange && (isUsd || Number.isInteger(amount))) return [limit, amount];
  const cure = limit ? `its amount is a ${isUsd ? '' : 'whole '}number ${range}` : limitsInWords(name);
  throw new UsageError(`${option} takes LIMIT=AMOUNT, not ${JSON.stringify(given)}; ${cure}.`);
}

function limitsInWords(misspelt: string): string {
  const meant = didYouMean(misspelt, windowLimits);
  return meant === undefined ? `limits are ${windowLimits.join(', ')}` : `did you mean ${meant}`;
}
