import type { MessagesRequest } from '@gw2api/gateway/plugin';
import type { Dropped } from './losses/dropped.js';

/** Thinking that a request asks for. */
export interface ThinkingWish {
  /** `none`, an effort, or undefined: chosen by the server. */
  readonly effort: string | undefined;
  /** False for the effort derived from a budget. */
  readonly isNamed: boolean;
  readonly budget: number | undefined;
  readonly isOn: boolean;
}

export function thinkingWish({ thinking, output_config }: MessagesRequest): ThinkingWish {
  const budget = thinking?.type === 'enabled' ? thinking.budget_tokens : undefined;
  const named = thinking?.type === 'disabled' ? 'none' : output_config?.effort;
  const effort = named ?? effortOf(budget);
  return {
    effort,
    isNamed: named !== undefined,
    budget,
    isOn: thinking !== undefined && thinking.type !== 'disabled',
  };
}

/** Nearest effort of a budget, by the thresholds of the formats. */
function effortOf(budget: number | undefined): string | undefined {
  if (budget === undefined) return undefined;
  return budget <= 4096 ? 'low' : budget <= 12_288 ? 'medium' : 'high';
}

/**
 * Reports the thinking settings of a request to a server without a control for them. `mayThink` is false for a model
 * that never thinks.
 */
export function reportThinking(
  { thinking, output_config }: MessagesRequest,
  mayThink: boolean,
  dropped: Dropped,
): void {
  if (output_config?.effort !== undefined) dropped.add('output_config.effort');
  if (thinking?.type === 'enabled' || (thinking?.type === 'disabled' && mayThink)) dropped.add('thinking');
}

/**
 * Effort for a server. Reports one that differs from the caller's, thinking that cannot be disabled, and a budget
 * replaced by an effort.
 */
export function sentEffort(
  { effort: wanted, isNamed, budget }: ThinkingWish,
  efforts: readonly string[],
  dropped: Dropped,
): string | undefined {
  const effort = nearestEffort(wanted, efforts);
  if (isNamed && effort !== wanted) dropped.add(wanted === 'none' ? 'thinking' : 'output_config.effort');
  if (budget !== undefined) dropped.add('thinking.budget_tokens', 'mend');
  return effort;
}

/** Efforts, the lowest one first. */
export const knownEfforts: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/**
 * Effort among those that a server takes: the wanted one, else the nearest below it, else the lowest. Undefined without
 * a wish, and for `none` if a server always thinks.
 */
function nearestEffort(wanted: string | undefined, efforts: readonly string[]): string | undefined {
  if (wanted === undefined || efforts.includes(wanted) || !knownEfforts.includes(wanted)) return wanted;
  if (wanted === 'none') return undefined;
  const below = knownEfforts
    .slice(1, knownEfforts.indexOf(wanted))
    .findLast((effort) => efforts.includes(effort));
  return below ?? knownEfforts.slice(1).find((effort) => efforts.includes(effort));
}

/** Efforts that a server takes after its refusal: those that it lists, even if none of them was known. */
export function takenEfforts(known: readonly string[], listed: string): string[] {
  const left = listed.split(',');
  const taken = known.filter((effort) => left.includes(effort));
  return taken.length > 0 ? taken : left;
}
