import type { UsageSum } from '../../../../plugin/core.js';
import { fromTokenRecord, writeTokens } from '../../../ledger/columns.js';
import type { SumRecord } from '../tables/tables.js';

/** Adds what a sum has for `sumColumns`, in their order. */
export function writeSum(sum: UsageSum, values: unknown[]): void {
  values.push(sum.requests, sum.errors);
  values.push(sum.firstEvents, sum.firstEventMsSum, sum.durationMsSum);
  writeTokens(sum, values);
  values.push(sum.billedCost, sum.shownCost, sum.unpriced, sum.cacheLostTokens, sum.cacheLostCost);
}

export function fromSumRecord(record: SumRecord, atMs: number, group: string): UsageSum {
  return {
    atMs,
    group,
    requests: record.requests,
    errors: record.errors,
    ...fromTokenRecord(record),
    firstEvents: record.first_events,
    firstEventMsSum: record.first_event_ms_sum,
    durationMsSum: record.duration_ms_sum,
    billedCost: record.billed_cost,
    shownCost: record.shown_cost,
    unpriced: record.unpriced,
    cacheLostTokens: record.cache_lost_tokens,
    cacheLostCost: record.cache_lost_cost,
  };
}
