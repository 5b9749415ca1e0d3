import { expect } from 'chai';
import type { LedgerFilter, LedgerRow, Store } from '#src/plugin/internal.js';
import type { OpenStore, StoreUnderTest } from './conformance.js';
import { row } from './ledger-conformance.js';

const hour = 3_600_000;
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
  });
}

/** Four at a time: those of one millisecond differ by their ids. */
function rowAt(at: number): LedgerRow {
  const failed = at % 50 === 0;
  return row(`r${String(at).padStart(5, '0')}`, t0 + Math.floor(at / 4) * 20_000, {
    keyId: `k${at % 2}`,
    slot: `s${at % 3}`,
    model: 'm',
    format: at % 7 === 0 ? 'chat' : 'messages',
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
