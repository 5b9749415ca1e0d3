import type { LedgerFilter, UsageQuery } from '#src/plugin/contract/ledger.js';
import { expect } from 'chai';
import type { LedgerRow } from '#src/state/ledger/contract.js';
import type { Store } from '#src/state/store/contract/store.js';
import type { OpenStore, StoreUnderTest } from './conformance.js';
import { row } from './ledger-conformance.js';

const minute = 60_000;
const hour = 60 * minute;
const t0 = Date.UTC(2026, 2, 4);

/** What a ledger answers from more rows than it looks at in one go. */
export function describeManyRows(name: string, open: OpenStore): void {
  describe(`many rows in ${name}`, () => {
    const rows = Array.from({ length: 4000 }, (_, at) => rowAt(at));
    let store: Store;
    let under: StoreUnderTest;
    before(async function () {
      this.timeout(30_000);
      under = await open(() => t0);
      store = under.store;
      for (let at = 0; at < rows.length; at += 1000) await store.ledger.append(rows.slice(at, at + 1000));
    });
    after(() => under.close());

    const filters: readonly LedgerFilter[] = [
      { failed: false },
      { status: 200, slot: 's1' },
      { keyId: 'k0', failed: true, format: 'chat' },
      { keyId: 'k1', slot: 's2', failed: false, toMs: t0 + 3 * hour },
      { keyId: 'k0', slot: 's1', model: 'none' },
      { code: 'c', status: 429, slot: 's0' },
      { status: 418 },
    ];
    for (const filter of filters)
      it(`are found page by page, all of them and in their order: ${JSON.stringify(filter)}`, async () => {
        const found: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await store.ledger.requests(filter, { limit: 300, ...(cursor && { cursor }) });
          found.push(...page.rows.map(({ id }) => id));
          if (page.cursor) expect(page.rows).to.have.length(300);
          cursor = page.cursor;
        } while (cursor);
        const wanted = rows.filter((each) => matches(each, filter)).map(({ id }) => id);
        expect(found).to.deep.equal(wanted.toReversed());
      });

    for (const by of [null, 'key', 'slot', 'format'] as const)
      for (const keyId of [undefined, 'k1'])
        it(`are added up alike from hours and from rows: by ${by}, of ${keyId ?? 'all keys'}`, async () => {
          const query = { fromMs: t0, toMs: t0 + 6 * hour, by, ...(keyId && { keyId }) };
          const [ofHours, ofRows] = await Promise.all(
            [6 * hour, 6 * hour - 1].map((stepMs) => store.ledger.usage({ ...query, stepMs })),
          );
          expect(ofRows).to.deep.equal(ofHours);
          const counted = ofRows!.reduce((sum, { requests }) => sum + requests, 0);
          expect(counted).to.equal(rows.filter((each) => matches(each, { ...(keyId && { keyId }) })).length);
        });

    const wheres: readonly NonNullable<UsageQuery['where']>[] = [
      { failed: false },
      { failed: false, slot: 's1' },
      { failed: false, keyId: 'k0', format: 'chat' },
      { keyId: 'k1', slot: 's2' },
      { keyId: 'k0', slot: 's1', format: 'messages', failed: true },
      { keyId: 'k0', model: 'none' },
    ];
    for (const where of wheres)
      for (const by of [null, 'key', 'slot'] as const)
        it(`are added up as they are: ${JSON.stringify(where)}, by ${by}`, async () => {
          for (const stepMs of [6 * hour, hour, 17 * minute, 7000]) {
            const query = { fromMs: t0, toMs: t0 + 6 * hour, by, where, stepMs };
            const sums = await store.ledger.usage(query);
            const read = sums.map((sum) => [
              sum.atMs,
              sum.group,
              sum.requests,
              sum.errors,
              sum.durationMsSum,
              sum.billed.input,
            ]);
            const wanted = countedBy(rows, query);
            expect(read, String(stepMs)).to.deep.equal(wanted);
          }
        });

    const besides: readonly LedgerFilter[] = [
      { keyId: 'k0' },
      { team: 't' },
      { slot: 's1' },
      { model: 'm' },
      { format: 'chat' },
      { status: 429 },
      { code: 'c' },
      { failed: true },
      { session: 's' },
      { cause: 'expired' },
    ];
    for (const filter of besides)
      it(`are looked up in each index beside a rarer condition: ${JSON.stringify(filter)}`, async () => {
        const query = { fromMs: t0, toMs: t0 + 6 * hour, stepMs: 6 * hour, by: null };
        const usageOf = (where: LedgerFilter) => store.ledger.usage({ ...query, where });
        expect(await usageOf({ ...filter, requestId: 'nobody' })).to.deep.equal([]);
        const found = rows.find((each) => matches(each, filter));
        if (found) expect(await usageOf({ ...filter, requestId: found.requestId })).to.have.length(1);
      });

    for (const where of [{ failed: false }, { failed: false, slot: 's1' }])
      it(`have the percentiles of those that were asked for: ${JSON.stringify(where)}`, async () => {
        const query = { fromMs: t0, toMs: t0 + 6 * hour, by: null, where };
        const ofHours = await store.ledger.latency({ ...query, stepMs: 6 * hour });
        expect(ofHours).to.have.length(1);
        expect(await store.ledger.latency({ ...query, stepMs: 6 * hour + 1 })).to.deep.equal(ofHours);
      });
  });
}

type Counted = [atMs: number, group: string, requests: number, errors: number, ms: number, input: number];

/** Sums of rows as `usage` has them. */
function countedBy(
  rows: readonly LedgerRow[],
  { fromMs, stepMs, by, where = {} }: UsageQuery,
): readonly Counted[] {
  const sums = new Map<string, Counted>();
  for (const each of rows.filter((row) => matches(row, where))) {
    const atMs = each.atMs - ((each.atMs - fromMs) % stepMs);
    const group = (by === 'key' ? each.keyId : by === 'slot' ? each.slot : '') ?? '';
    const [, , requests, errors, ms, input] = sums.get(`${atMs} ${group}`) ?? [0, '', 0, 0, 0, 0];
    const sum: Counted = [
      atMs,
      group,
      requests + 1,
      errors + Number(each.failed),
      ms + each.durationMs,
      input + each.billed.input,
    ];
    sums.set(`${atMs} ${group}`, sum);
  }
  return [...sums.values()].toSorted((a, b) => a[0] - b[0] || (a[1] < b[1] ? -1 : 1));
}

/** Four at a time: those of one millisecond differ by their ids. */
function rowAt(at: number): LedgerRow {
  const failed = at % 50 === 0;
  return row(`r${String(at).padStart(5, '0')}`, t0 + Math.floor(at / 4) * 20_000, {
    keyId: `k${at % 2}`,
    slot: `s${at % 3}`,
    model: 'm',
    format: at % 7 === 0 ? 'chat' : 'messages',
    durationMs: at % 997,
    firstEventMs: at % 313,
    ...(failed && { failed, status: 429, code: 'c' }),
    ...(at === 17 && { failed: true, status: 418, code: 'rare' }),
  });
}

function matches(row: LedgerRow, { toMs = Infinity, ...equal }: LedgerFilter): boolean {
  return (
    row.atMs < toMs &&
    Object.entries(equal).every(([field, value]) => row[field as keyof LedgerRow] === value)
  );
}
