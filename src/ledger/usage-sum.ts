import type { LedgerRow, LedgerTokens, UsageSum } from '../plugin/index.js';

/** A row as a sum of one. */
export function sumOf({ atMs, failed, billed, shown, firstEventMs, durationMs }: LedgerRow): UsageSum {
  return {
    atMs,
    group: '',
    requests: 1,
    errors: Number(failed),
    billed,
    shown,
    firstEvents: firstEventMs === undefined ? 0 : 1,
    firstEventMsSum: firstEventMs ?? 0,
    durationMsSum: durationMs,
  };
}

/** The sum of two of one bucket and group. */
export function addSums(first: UsageSum, second: UsageSum): UsageSum {
  return {
    atMs: first.atMs,
    group: first.group,
    requests: first.requests + second.requests,
    errors: first.errors + second.errors,
    billed: addTokens(first.billed, second.billed),
    shown: addTokens(first.shown, second.shown),
    firstEvents: first.firstEvents + second.firstEvents,
    firstEventMsSum: first.firstEventMsSum + second.firstEventMsSum,
    durationMsSum: first.durationMsSum + second.durationMsSum,
  };
}

function addTokens(first: LedgerTokens, second: LedgerTokens): LedgerTokens {
  return {
    input: first.input + second.input,
    cacheRead: first.cacheRead + second.cacheRead,
    cacheWrite5m: first.cacheWrite5m + second.cacheWrite5m,
    cacheWrite1h: first.cacheWrite1h + second.cacheWrite1h,
    output: first.output + second.output,
  };
}
