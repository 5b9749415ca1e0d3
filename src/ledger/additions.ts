import { totalTokens, type LedgerTokens } from '../plugin/internal.js';

/**
 * Tokens that stages added, by the stage's name: the part of the billed tokens that is hidden from the caller, divided
 * by what each stage is estimated to add to a call. A caller that is shown all has the part that would be hidden.
 */
export function additionsByStage(
  { billed, shown }: { readonly billed: LedgerTokens; readonly shown: LedgerTokens },
  added: Readonly<Record<string, number>>,
  calls: number,
): Readonly<Record<string, LedgerTokens>> | undefined {
  const stages = Object.entries(added);
  const weight = stages.reduce((sum, [, tokens]) => sum + tokens, 0);
  const hidden = hiddenPart(billed, shown);
  const whole = totalTokens(hidden) > 0 ? hidden : firstTokens(billed, Math.round(weight * calls));
  if (weight <= 0 || totalTokens(whole) === 0) return undefined;
  let before = 0;
  const parts = stages.map(([stage, tokens]) => {
    const [from, to] = [before / weight, (before += tokens) / weight];
    return [stage, mapped((sort) => Math.round(whole[sort] * to) - Math.round(whole[sort] * from))];
  });
  return Object.fromEntries(parts.filter(([stage]) => stage !== ''));
}

function hiddenPart(billed: LedgerTokens, shown: LedgerTokens): LedgerTokens {
  return mapped((sort) => billed[sort] - shown[sort]);
}

/** The first tokens of a prompt: cached ones before the others, in the order in which usage-mask hides them. */
function firstTokens(billed: LedgerTokens, count: number): LedgerTokens {
  let left = count;
  const taken: Record<string, number> = {};
  for (const sort of ['cacheRead', 'cacheWrite1h', 'cacheWrite5m', 'input'] as const) {
    taken[sort] = Math.min(left, billed[sort]);
    left -= taken[sort];
  }
  return mapped((sort) => taken[sort] ?? 0);
}

function mapped(of: (sort: keyof LedgerTokens) => number): LedgerTokens {
  return {
    input: of('input'),
    cacheRead: of('cacheRead'),
    cacheWrite5m: of('cacheWrite5m'),
    cacheWrite1h: of('cacheWrite1h'),
    output: of('output'),
  };
}
