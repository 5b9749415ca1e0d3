import type { MessagesRequest } from 'gw2api/plugin';

/** Thinking as a request asks for it. */
export interface ThinkingWish {
  /** `none`, an effort, or undefined: as the server sees fit. */
  readonly effort: string | undefined;
  readonly budget: number | undefined;
  readonly isOn: boolean;
}

export function thinkingWish({ thinking, output_config }: MessagesRequest): ThinkingWish {
  const budget = thinking?.type === 'enabled' ? thinking.budget_tokens : undefined;
  const effort = thinking?.type === 'disabled' ? 'none' : (output_config?.effort ?? effortOf(budget));
  return { effort, budget, isOn: thinking !== undefined && thinking.type !== 'disabled' };
}

/** Nearest effort of a budget, as the formats read it. */
function effortOf(budget: number | undefined): string | undefined {
  if (budget === undefined) return undefined;
  return budget <= 4096 ? 'low' : budget <= 12_288 ? 'medium' : 'high';
}

/** Efforts by their knownEfforts. */
export const knownEfforts: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/**
 * Effort among those that a server takes: the wanted one, else the nearest below it, else the lowest. Undefined
 * for no wish, and for `none` where a server always thinks.
 */
export function nearestEffort(wanted: string | undefined, efforts: readonly string[]): string | undefined {
  if (wanted === undefined || efforts.includes(wanted) || !knownEfforts.includes(wanted)) return wanted;
  if (wanted === 'none') return undefined;
  const below = knownEfforts
    .slice(1, knownEfforts.indexOf(wanted))
    .findLast((effort) => efforts.includes(effort));
  return below ?? knownEfforts.slice(1).find((effort) => efforts.includes(effort));
}
