import type { Pipeline } from '../pipeline/pipeline.js';
import { hasBudget, type Store } from '../plugin/internal.js';

/** True where a stage of the pipeline counts the budgets of keys and teams. */
export function countsBudgets({ stages }: Pick<Pipeline, 'stages'>): boolean {
  return stages.some(({ enabled, provides }) => enabled && provides.includes('budgeted'));
}

/** Sentence about stored budgets that the pipeline does not count; undefined where there are none. */
export async function uncountedBudgets(
  pipeline: Pick<Pipeline, 'stages'>,
  { keys, teams }: Pick<Store, 'keys' | 'teams'>,
): Promise<string | undefined> {
  if (countsBudgets(pipeline)) return undefined;
  const [listed, groups] = await Promise.all([keys.list(), teams.list()]);
  const names = [
    ...listed.filter((key) => key.revokedAtMs === undefined && hasBudget(key)).map(nameOf('key')),
    ...groups.filter(hasBudget).map(nameOf('team')),
  ];
  if (names.length === 0) return undefined;
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : '';
  const cure = 'list rate-limit in the pipeline, or take the budgets away';
  return `No stage of the pipeline counts budgets, which ${names.slice(0, maxNamed).join(', ')}${more} have: ${cure}.`;
}

const maxNamed = 3;

function nameOf(kind: 'key' | 'team'): (holder: { readonly name: string }) => string {
  return ({ name }) => `the ${kind} ${JSON.stringify(name)}`;
}
