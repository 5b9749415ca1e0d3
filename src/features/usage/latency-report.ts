import type { Static } from 'typebox';
import type { LatencySum, Percentiles } from '../../state/ledger/contract.js';
import type { UsageSum } from '../../plugin/core.js';
import type { Latency } from '../../operator/schemas.js';

/** Percentiles by the place of their sum. */
export function latencyReports(sums: readonly LatencySum[]): ReadonlyMap<string, Static<typeof Latency>> {
  return new Map(sums.map((sum) => [placeOf(sum), latencyReport(sum)]));
}

export function placeOf({ atMs, group }: Pick<UsageSum, 'atMs' | 'group'>): string {
  return `${atMs} ${group}`;
}

function latencyReport({ measures }: LatencySum): Static<typeof Latency> {
  const { first_token, per_output_token, queue, total } = measures;
  return {
    first_token: percentilesReport(first_token),
    per_output_token: percentilesReport(per_output_token),
    queue: percentilesReport(queue),
    total: percentilesReport(total),
  };
}

function percentilesReport(percentiles: Percentiles | undefined): Percentiles | null {
  if (!percentiles) return null;
  const { p50, p95, p99 } = percentiles;
  return { p50: rounded(p50), p95: rounded(p95), p99: rounded(p99) };
}

/** Rounds to three significant digits. */
function rounded(ms: number): number {
  return Number(ms.toPrecision(3));
}
