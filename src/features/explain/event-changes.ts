import type { Usage } from '../../plugin/index.js';
import type { EventSum } from './event-tally.js';
import type { EventChanges } from './explanation.js';

/** Differences between two places of an answer's way; undefined: none. */
export function eventChanges(before: EventSum, after: EventSum): EventChanges | undefined {
  const types = pairs(before.types, after.types, 0);
  const usage = pairs(numbersOf(before.usage), numbersOf(after.usage), null);
  const textChanged = before.digest !== after.digest;
  if (!textChanged && Object.keys(types).length + Object.keys(usage).length === 0) return undefined;
  return { types, characters: [before.characters, after.characters], textChanged, usage };
}

type Numbers = Readonly<Record<string, number>>;

/** Values that differ, by name: before and after. */
function pairs<None>(
  before: Numbers,
  after: Numbers,
  none: None,
): Record<string, [number | None, number | None]> {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const differing = [...names].filter((name) => before[name] !== after[name]);
  return Object.fromEntries(differing.map((name) => [name, [before[name] ?? none, after[name] ?? none]]));
}

function numbersOf(usage: Usage): Numbers {
  const entries = Object.entries(usage).flatMap(([name, value]) =>
    typeof value === 'number' ? [[name, value] as const] : [],
  );
  return Object.fromEntries(entries);
}
