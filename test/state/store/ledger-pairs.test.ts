import type { UsageQuery, UsageSum } from '#src/plugin/contract/ledger.js';
import { expect } from 'chai';
import { fakeHost } from '@gw2api/gateway/testing';
import type { LedgerRow } from '#src/state/ledger/contract.js';
import type { WholeStore } from '#src/state/store/contract/store.js';
import { MemoryHub } from '#src/state/live/memory/hub.js';
import { Housekeeper } from '#src/state/store/housekeeper.js';
import { openStore } from '#src/state/store/index.js';
import type { StoreSettings } from '#src/state/store/contract/settings.js';
import { sql } from 'kysely';
import { clockAt } from '../../clock-at.js';
import { seeded } from '../../support/seeded.js';
import { row } from './ledger-conformance.js';
import { migratedSqlite, openTables, ownPostgres, postgresUrl, quiet, type Place } from './stores.js';

const hour = 3_600_000;
const t0 = Date.UTC(2026, 2, 4);
const endMs = t0 + 5 * hour;

/** Conditions with or without a group: two groups together. */
const queries: readonly Pick<UsageQuery, 'by' | 'where'>[] = [
  { by: 'slot', where: { format: 'chat' } },
  { by: 'key', where: { format: 'chat' } },
  { by: 'key', where: { team: 't1' } },
  { by: 'team', where: { model: 'b' } },
  { by: 'format', where: { keyId: 'k2' } },
  { by: null, where: { slot: 's1', model: 'ab' } },
  { by: 'slot', where: { slot: 's1', model: 'ab' } },
  { by: 'model', where: { slot: '' } },
  { by: null, where: { failed: true } },
  { by: null, where: { failed: false } },
  { by: 'model', where: { failed: true } },
  { by: 'team', where: { failed: false } },
  { by: null, where: { failed: true, keyId: 'k2' } },
  { by: 'slot', where: { failed: true, slot: 's1' } },
  { by: 'slot', where: { model: 'none' } },
];

/** Three groups together, of which the failed requests are counted one by one. */
const queriesOfThree: typeof queries = [
  { by: 'slot', where: { failed: false, format: 'chat' } },
  { by: null, where: { failed: false, keyId: 'k1', model: 'b' } },
];

describe('the sums of pairs of groups', function () {
  this.timeout(30_000);
  describePairs('in SQLite', migratedSqlite);
  if (postgresUrl !== undefined) describePairs('in PostgreSQL', () => ownPostgres(postgresUrl!));
});

function describePairs(name: string, makePlace: () => Promise<Place<StoreSettings>>): void {
  describe(name, () => {
    let place: Place<StoreSettings>;
    let store: WholeStore;
    beforeEach(async () => {
      place = await makePlace();
      store = await openStore(place.where, { log: quiet });
      await store.ledger.append(rows);
    });
    afterEach(async () => {
      await store.close();
      await place.remove();
    });

    /** The answers to all queries, by the hour, by two hours from an uneven one on, and in one bucket. */
    async function answers(of = [...queries, ...queriesOfThree]): Promise<readonly (readonly UsageSum[])[]> {
      const spans = [
        { fromMs: t0 - hour, toMs: endMs + 3 * hour, stepMs: hour },
        { fromMs: t0 + hour, toMs: endMs, stepMs: 2 * hour },
        { fromMs: t0, toMs: endMs, stepMs: 5 * hour },
      ];
      const asked = of.flatMap((query) => spans.map((span) => ({ ...span, ...query })));
      return Promise.all(asked.map((query) => store.ledger.usage(query)));
    }

    async function execute(statement: ReturnType<typeof sql>): Promise<readonly unknown[]> {
      const db = await openTables(place.where);
      try {
        return (await statement.execute(db)).rows;
      } finally {
        await db.destroy();
      }
    }

    it('are what the rows come to, of which they are made', async () => {
      const counted = await answers();
      expect(counted.filter((sums) => sums.length > 0)).to.have.length(counted.length - 3);
      expect(await store.sumPairs?.(t0 + 4 * hour, 3)).to.deep.equal({ isDone: false });
      expect(await answers()).to.deep.equal(counted);
      expect(await store.sumPairs?.(t0 + 4 * hour, 3)).to.deep.equal({ isDone: true });
      expect(await store.sumPairs?.(t0 + 4 * hour + 1, 1)).to.deep.equal({ isDone: true });
      expect(await answers()).to.deep.equal(counted);
      await execute(sql`delete from ledger where failed = 0 and at < ${t0 + 4 * hour}`);
      expect(await answers()).to.deep.equal(counted);
      await execute(sql`delete from ledger where at < ${t0 + 4 * hour}`);
      expect(await answers([...queries])).to.deep.equal(counted.slice(0, queries.length * 3));
    });

    it('do not hold for an hour with a later request, until it is summed again', async () => {
      await store.sumPairs?.(endMs, 10);
      const late = row('late', t0 + hour + 7, { format: 'chat', slot: 's1', keyId: 'k1' });
      await store.ledger.append([late]);
      const counted = await answers();
      const query = { fromMs: t0 + hour, toMs: t0 + 2 * hour, stepMs: hour } as const;
      const where = { format: 'chat', slot: 's1' };
      const [sum] = await store.ledger.usage({ ...query, by: 'slot', where });
      const wanted = rows.filter(
        ({ atMs, format, slot }) =>
          Math.floor((atMs - t0) / hour) === 1 && format === 'chat' && slot === 's1',
      );
      expect(sum?.requests).to.equal(wanted.length + 1);
      expect(await store.sumPairs?.(endMs, 1)).to.deep.equal({ isDone: false });
      expect(await store.sumPairs?.(endMs, 1)).to.deep.equal({ isDone: true });
      expect(await answers()).to.deep.equal(counted);
    });

    it('go with their rows', async () => {
      await store.sumPairs?.(endMs, 10);
      const counted = await answers();
      while (!(await store.ledger.prune(t0 + 2 * hour, 50)).isDone);
      const left = counted.map((sums) => sums.filter(({ atMs }) => atMs >= t0 + 2 * hour));
      expect((await answers()).filter((_, at) => at % 3 === 0)).to.deep.equal(
        left.filter((_, at) => at % 3 === 0),
      );
      expect(await execute(sql`select distinct at from ledger_pairs order by at`)).to.deep.equal(
        [2, 3, 4].map((nth) => ({ at: t0 + nth * hour })),
      );
      expect(await execute(sql`select at from ledger_pair_hours where at < ${t0 + 2 * hour}`)).to.deep.equal(
        [],
      );
    });

    it('leave out an hour that cannot be summed, and go on with older ones', async () => {
      const counted = await answers();
      const badMs = t0 + 3 * hour;
      await execute(
        place.where.kind === 'sqlite'
          ? sql`create trigger refused before insert on ledger_pairs when new.at = ${sql.lit(badMs)}
                begin select raise(abort, 'no'); end`
          : sql`alter table ledger_pairs add check (at <> ${sql.lit(badMs)})`,
      );
      const refused = await store.sumPairs?.(badMs + hour, 10).catch(String);
      expect(refused).to.match(/: no$|check constraint/);
      expect(await store.sumPairs?.(badMs + hour, 3)).to.deep.equal({ isDone: false });
      expect(await store.sumPairs?.(badMs + hour, 1)).to.deep.equal({ isDone: true });
      const summed = await execute(sql`select at, has_sums from ledger_pair_hours order by at`);
      expect(summed).to.deep.equal([1, 1, 1, 0].map((has_sums, nth) => ({ at: t0 + nth * hour, has_sums })));
      expect(await answers()).to.deep.equal(counted);
    });

    it('are made by the housekeeper ten minutes after the hour', async () => {
      const clock = clockAt(() => t0 + 3 * hour + 10 * 60_000 - 1);
      const keeper = new Housekeeper({
        store,
        live: new MemoryHub().connect(),
        keepDays: { ledger: 90, audit: 365 },
        log: quiet,
        clock,
      });
      await keeper.cleanUp();
      await keeper.close();
      expect(await execute(sql`select at from ledger_pair_hours order by at`)).to.deep.equal(
        [0, 1].map((nth) => ({ at: t0 + nth * hour })),
      );
    });

    it('are made hour by hour, so that a gateway that closes waits for one of them', async () => {
      let hours = 0;
      const sumPairs = async (_: number, limit: number) => {
        void keeper.close();
        hours += limit;
        return { isDone: false };
      };
      const keeper = new Housekeeper({
        store: { ...store, sumPairs },
        live: new MemoryHub().connect(),
        keepDays: { ledger: 90, audit: 365 },
        log: quiet,
        clock: clockAt(() => t0),
      });
      await keeper.cleanUp();
      expect(hours).to.equal(1);
    });

    it('that cannot be made are a line of the log, and tried again', async () => {
      const { log, logged } = fakeHost();
      let tries = 0;
      const sumPairs = async () => {
        tries += 1;
        throw new Error('no');
      };
      const keeper = new Housekeeper({
        store: { ...store, sumPairs },
        live: new MemoryHub().connect(),
        keepDays: { ledger: 90, audit: 365 },
        log,
        clock: clockAt(() => t0),
      });
      await keeper.cleanUp();
      await keeper.cleanUp();
      await keeper.close();
      expect(logged.map(({ level }) => level)).to.deep.equal(['warn', 'warn']);
      expect(tries).to.equal(2);
    });
  });
}

/** Names that, put together, are the same text in two ways; some rows have no slot. */
const rows: readonly LedgerRow[] = (() => {
  const random = seeded(7);
  const pick = (names: readonly string[]) => names[Math.floor(random() * names.length)]!;
  return Array.from({ length: 600 }, (_, at) => {
    const key = pick(['k1', 'k2', 'k3']);
    const slot = pick(['s1', 's', '']);
    const failed = random() < 0.1;
    return row(`r${at}`, t0 + Math.floor((at * 5 * hour) / 600), {
      keyId: key,
      ...(key !== 'k3' && { team: `t${key.slice(1)}` }),
      ...(slot && { slot }),
      model: pick(['b', 'ab', '1b']),
      format: pick(['chat', 'messages']),
      failed,
      status: failed ? 500 : 200,
      durationMs: Math.floor(random() * 1000),
      ...(!failed && { firstEventMs: at, cost: { billed: at, shown: 2 } }),
      ...(random() < 0.2 && { cache: { cause: 'expired' as const, lostTokens: at, lostCost: 3 } }),
    });
  });
})();
