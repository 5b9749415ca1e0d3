import type { LedgerTokens } from '../../plugin/core.js';
import { totalTokens } from '../../plugin/index.js';

/**
 * Tokens that stages added, by the stage's name: the part of the billed tokens that is hidden from the caller, divided
 * by each stage's estimated additions. For a caller without masking, the part that would be hidden.
 */
export function additionsByStage(
  { billed, shown }: { readonly billed: LedgerTokens; readonly shown: LedgerTokens },
  added: Readonly<Record<string, number>>,
  calls: number,
): Readonly<Record<string, LedgerTokens>> | undefined {
  const stages = Object.entries(added);
  const weight = stages.reduce((sum, [, tokens]) => sum + tokens, 0);
  const hidden = lessTokens(billed, shown);
  const whole = totalTokens(hidden) > 0 ? hidden : firstTokens(billed, Math.round(weight * calls));
  if (weight <= 0 || totalTokens(whole) === 0) return undefined;
  let before = 0;
  const parts = stages.map(([stage, tokens]) => {
    const from = before / weight;
    before += tokens;
    return [stage, partOf(whole, from, before / weight)] as const;
  });
  return Object.fromEntries(parts.filter(([stage]) => stage !== ''));
}

/** Part of the tokens from one share to another, 0 to 1: adjacent parts add up to the whole. */
function partOf(whole: LedgerTokens, from: number, to: number): LedgerTokens {
  return {
    input: roundedPart(whole.input, from, to),
    cacheRead: roundedPart(whole.cacheRead, from, to),
    cacheWrite5m: roundedPart(whole.cacheWrite5m, from, to),
    cacheWrite1h: roundedPart(whole.cacheWrite1h, from, to),
    output: roundedPart(whole.output, from, to),
  };
}

function roundedPart(count: number, from: number, to: number): number {
  return Math.round(count * to) - Math.round(count * from);
}

/** The first tokens of a prompt: cached ones before the others, in the order in which usage-mask hides them. */
function firstTokens(billed: LedgerTokens, count: number): LedgerTokens {
  let left = count;
  const take = (tokens: number): number => {
    const taken = Math.min(left, tokens);
    left -= taken;
    return taken;
  };
  return {
    cacheRead: take(billed.cacheRead),
    cacheWrite1h: take(billed.cacheWrite1h),
    cacheWrite5m: take(billed.cacheWrite5m),
    input: take(billed.input),
    output: 0,
  };
}

/** Tokens without a part of them. */
export function lessTokens(all: LedgerTokens, part: LedgerTokens): LedgerTokens {
  return {
    input: all.input - part.input,
    cacheRead: all.cacheRead - part.cacheRead,
    cacheWrite5m: all.cacheWrite5m - part.cacheWrite5m,
    cacheWrite1h: all.cacheWrite1h - part.cacheWrite1h,
    output: all.output - part.output,
  };
}
