import type { Static } from 'typebox';
import type { LedgerTokens } from '../plugin/core.js';
import type { LedgerCost } from '../state/ledger/contract.js';
import type { Cost, Tokens } from './schemas.js';

export function costReport({ billed, shown }: LedgerCost): Static<typeof Cost> {
  return { billed_usd: billed / nanoUsd, shown_usd: shown / nanoUsd };
}

/** Part of the input that was read from the prompt cache; null without input. */
export function cacheHitRatio({ input, cacheRead, cacheWrite5m, cacheWrite1h }: LedgerTokens): number | null {
  const all = input + cacheRead + cacheWrite5m + cacheWrite1h;
  return all === 0 ? null : Math.round((cacheRead / all) * 1e4) / 1e4;
}

/** Nano-USD in a USD. */
export const nanoUsd = 1e9;

export function tokensReport(tokens: LedgerTokens): Static<typeof Tokens> {
  return {
    input: tokens.input,
    cache_read: tokens.cacheRead,
    cache_write_5m: tokens.cacheWrite5m,
    cache_write_1h: tokens.cacheWrite1h,
    output: tokens.output,
  };
}
