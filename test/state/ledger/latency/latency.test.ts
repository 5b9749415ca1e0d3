import { expect } from 'chai';
import type { LedgerRow } from '#src/state/ledger/contract.js';
import {
  addLatency,
  bucketOf,
  LatencyGroups,
  maxLatencyError,
  timeOf,
} from '#src/state/ledger/latency/latency.js';
import { row } from '../../store/ledger-conformance.js';

/** Numbers from 0 to 1 in a fixed order. */
function random(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

function measuresOf(rows: readonly LedgerRow[]) {
  const groups = new LatencyGroups();
  for (const each of rows) addLatency(groups.of(0, ''), each);
  return groups.sums()[0]?.measures;
}

describe('percentiles of latency', () => {
  it('tell times of one bucket apart, when there are many', () => {
    const times = Array.from({ length: 1000 }, (_, at) => 1000 + at * 0.15); // 1000 to 1150 ms: one bucket has 861 to 1024
    const rows = times.map((durationMs, at) => row(`r${at}`, 0, { durationMs, attempts: 1 }));
    const { p50, p95 } = measuresOf(rows)!.total!;
    expect(p95 - p50).to.be.above(30);
  });

  it('are near the exact ones where times are spread evenly over their buckets', () => {
    const times = Array.from({ length: 5000 }, (_, at) => 64 * 2 ** (at / 1000)); // five doublings, from the beginning of a bucket
    const { total } = measuresOf(
      times.map((durationMs, at) => row(`r${at}`, 0, { durationMs, attempts: 1 })),
    )!;
    expect(total!.p50).to.be.closeTo(times[2499]!, 0.01 * times[2499]!);
    expect(total!.p99).to.be.closeTo(times[4949]!, 0.01 * times[4949]!);
  });

  it('differ from the exact ones by the width of a bucket at most, whatever the times are', () => {
    expect(maxLatencyError).to.be.below(0.19);
    for (let seed = 1; seed <= 200; seed += 1) {
      const next = random(seed);
      const spread = 1 + next() * 14;
      const times = Array.from({ length: 1 + Math.floor(next() * 400) }, () =>
        Math.round(2 ** (next() * spread)),
      );
      const { total } = measuresOf(
        times.map((durationMs, at) => row(`r${at}`, 0, { durationMs, attempts: 1 })),
      )!;
      const ordered = times.toSorted((a, b) => a - b);
      for (const [name, share] of [
        ['p50', 0.5],
        ['p95', 0.95],
        ['p99', 0.99],
      ] as const) {
        const exact = ordered[Math.ceil(share * ordered.length) - 1]!;
        expect(Math.abs(total![name] - exact) / exact, `${seed} ${name} ${exact}`).to.be.at.most(
          maxLatencyError,
        );
      }
    }
  });

  it('have buckets that hold the time which they stand for', () => {
    for (let ms = 0.06; ms < 1e7; ms *= 1.07) {
      const bucket = bucketOf(ms);
      expect(bucketOf(timeOf(bucket))).to.equal(bucket);
      expect(Math.abs(timeOf(bucket) - ms) / ms).to.be.at.most(maxLatencyError);
    }
    expect(timeOf(bucketOf(0))).to.equal(0);
  });

  it('are of the times that a row has: none of a request that called no model', () => {
    expect(measuresOf([row('1', 0, { attempts: 0, durationMs: 9 })])).to.equal(undefined);
    const refused = row('2', 0, { attempts: 0, durationMs: 30_000, queueMs: 30_000 });
    expect(Object.keys(measuresOf([refused])!)).to.deep.equal(['queue']);
  });

  it('have the time for each output token after the first, of complete answers', () => {
    const billed = { input: 1, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 11 };
    const times = {
      attempts: 1,
      firstEventMs: 400,
      firstTokenMs: 500,
      outputMs: 2100,
      durationMs: 2500,
      billed,
    };
    expect(measuresOf([row('1', 0, times)])!.per_output_token!.p50).to.be.closeTo(200, 200 * maxLatencyError);
    for (const missing of ['firstTokenMs', 'outputMs'] as const) {
      const { [missing]: _, ...others } = times;
      expect(measuresOf([row('1', 0, others)])).not.to.have.property('per_output_token');
    }
    expect(measuresOf([row('1', 0, { ...times, billed: { ...billed, output: 1 } })])).not.to.have.property(
      'per_output_token',
    );
  });
});
