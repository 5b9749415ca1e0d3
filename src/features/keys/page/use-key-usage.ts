import { fetchUsage, type UsageBucket } from '../../../console/web/api/ledger.js';
import { allTokens } from '../../../console/web/format/numbers.js';
import { useResource } from '../../../console/web/state/use-resource.js';
import { dayMs } from '../../../console/web/format/times.js';

export interface KeyUsage {
  readonly requests: number;
  readonly tokens: number;
  /** Requests per day, oldest first. */
  readonly days: readonly number[];
}

const days = 30;

/** Usage of each key in the last 30 days, by id; undefined until it is loaded. */
export function useKeyUsage(): ReadonlyMap<string, KeyUsage> | undefined {
  const { data } = useResource(
    'key usage',
    async (signal) => {
      const to = (Math.floor(Date.now() / dayMs) + 1) * dayMs;
      const from = to - days * dayMs;
      const report = await fetchUsage({ from, to, by: 'key', step: '1d', latency: false }, signal);
      return sumByKey(report.data, from);
    },
    30_000,
  );
  return data;
}

function sumByKey(buckets: readonly UsageBucket[], fromMs: number): ReadonlyMap<string, KeyUsage> {
  const byKey = new Map<string, KeyUsage>();
  for (const bucket of buckets) {
    const id = bucket.group ?? '';
    const { requests, tokens, days: before } = byKey.get(id) ?? { requests: 0, tokens: 0, days: noDays };
    const day = Math.floor((Date.parse(bucket.at) - fromMs) / dayMs);
    byKey.set(id, {
      requests: requests + bucket.requests,
      tokens: tokens + allTokens(bucket.billed),
      days: before.map((value, index) => (index === day ? value + bucket.requests : value)),
    });
  }
  return byKey;
}

/** Requests of a key without any. */
export const noDays: readonly number[] = Array.from({ length: days }, () => 0);
