import type {
  CacheCause,
  LedgerTokens,
  UsageGroup,
  UsageQuery,
  UsageSum,
} from '#src/plugin/contract/ledger.js';
import { expect } from 'chai';
import type { LedgerRow } from '#src/state/ledger/contract.js';
import type { Store } from '#src/state/store/contract/store.js';
import { seeded } from '../../support/seeded.js';

/** What every ledger does alike; each test has a store of its own. */
export function describeLedger(open: () => Store): void {
  let store: Store;
  beforeEach(() => {
    store = open();
  });

  describe('its ledger', () => {
    const t0 = Date.UTC(2026, 0, 1, 10);
    const hour = 3_600_000;

    it('gives a row back as it was', async () => {
      const full = row('1', t0, {
        keyId: 'k',
        slot: 's',
        model: 'm',
        askedModel: 'n',
        code: 'internal',
        failed: true,
        firstEventMs: 0,
        firstTokenMs: 7,
        ...money,
        cache: { ...money.cache, detail: 'message 3' },
      });
      await store.ledger.append([full, row('2', t0 - 1)]);
      const { rows, cursor } = await store.ledger.requests({}, { limit: 10 });
      expect(rows).to.deep.equal([full, row('2', t0 - 1)]);
      expect(cursor).to.equal(undefined);
    });

    it('gives one row by its time and id, with its trace, which a list leaves out', async () => {
      const trace = {
        stages: [
          { stage: 'auth', ms: 0.12 },
          { stage: 'memory', ms: 1, skipped: true as const },
          { stage: 'upstream-call', ms: 7 },
        ],
        calls: [
          { slot: 'a', ms: 3, code: 'overloaded' },
          { slot: 'b', model: 'large', ms: 0, code: 'unreachable' },
          { slot: 'b', model: 'small', ms: 4.5 },
        ],
        answeredBy: 'small',
      };
      const bare = row('1', t0);
      await store.ledger.append([{ ...bare, trace }, row('2', t0, { trace: { stages: [], calls: [] } })]);
      expect(await store.ledger.get(bare)).to.deep.equal({ ...bare, trace });
      expect(await store.ledger.get({ id: '2', atMs: t0 })).to.deep.include({
        trace: { stages: [], calls: [] },
      });
      for (const other of [
        { id: '1', atMs: t0 + 1 },
        { id: '3', atMs: t0 },
      ])
        expect(await store.ledger.get(other)).to.equal(undefined);
      const { rows } = await store.ledger.requests({}, { limit: 10 });
      expect(rows[1]).to.deep.equal(bare);
    });

    it('finds some rows at once by their times and ids, without their traces', async () => {
      const rows = Array.from({ length: 600 }, (_, at) =>
        row(`r${at}`, t0 - at * hour, { keyId: 'k', ...money }),
      );
      await store.ledger.append(rows.map((each) => ({ ...each, trace: { stages: [], calls: [] } })));
      const asked = rows.filter((_, at) => at % 2 === 0);
      const others = ['r1', "'"].map((id) => ({ id, atMs: t0 }));
      const found = await store.ledger.find([...asked, ...others]);
      expect(found.toSorted((one, other) => other.atMs - one.atMs)).to.deep.equal(asked);
      expect(await store.ledger.find([])).to.deep.equal([]);
      expect(await store.ledger.find(others)).to.deep.equal([]);
    });

    it('counts a row once however often it comes', async () => {
      await store.ledger.append([]);
      await store.ledger.append([row('1', t0), row('2', t0)]);
      await store.ledger.append([row('2', t0), row('3', t0), row('3', t0)]);
      expect((await store.ledger.requests({}, { limit: 10 })).rows).to.have.length(3);
      await store.ledger.append([row('1', t0)]);
      for (const stepMs of [hour, 1000]) expect((await sums(store, t0, stepMs))[0]!.requests).to.equal(3);
    });

    it('takes many rows at once, also where some of them are there already', async () => {
      const rows = Array.from({ length: 237 }, (_, at) => row(String(at), t0 + at));
      await store.ledger.append(rows.slice(0, 123));
      await store.ledger.append(rows);
      await Promise.all([store.ledger.append(rows), store.ledger.append([row('last', t0)])]);
      for (const stepMs of [hour, 1000]) expect((await sums(store, t0, stepMs))[0]!.requests).to.equal(238);
    });

    it('turns its pages without a gap or a row twice, while new rows come', async () => {
      const rows = Array.from({ length: 25 }, (_, at) => row(`r${at}`, t0 + Math.floor(at / 4)));
      await store.ledger.append(rows);
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.ledger.requests({}, { limit: 4, ...(cursor && { cursor }) });
        seen.push(...page.rows.map(({ id }) => id));
        cursor = page.cursor;
        await store.ledger.append([row(`new${seen.length}`, t0 + 1000)]);
      } while (cursor);
      expect(seen.toSorted()).to.deep.equal(rows.map(({ id }) => id).toSorted());
    });

    it('refuses a cursor that it has not given', async () => {
      for (const cursor of ['', 'x', '1', '1.', "1'.x", '-1.x']) {
        const refusal = await store.ledger
          .requests({}, { limit: 1, cursor })
          .catch((error: unknown) => error);
        expect(refusal, cursor).to.be.instanceOf(TypeError);
      }
    });

    it('sums by the model that answered and by the one that was asked for', async () => {
      await store.ledger.append([
        row('1', t0, { model: 'small', askedModel: 'large' }),
        row('2', t0, { model: 'small' }),
        row('3', t0),
      ]);
      const span = { fromMs: t0, toMs: t0 + hour } as const;
      for (const stepMs of [hour, hour - 1]) {
        const groups = async (by: UsageGroup, where = {}) =>
          (await store.ledger.usage({ ...span, by, where, stepMs })).map(({ group, requests }) => [
            group,
            requests,
          ]);
        expect(await groups('model')).to.deep.equal([
          ['', 1],
          ['small', 2],
        ]);
        expect(await groups('asked_model')).to.deep.equal([
          ['', 1],
          ['large', 1],
          ['small', 1],
        ]);
        expect(await groups('asked_model', { model: 'small' })).to.deep.equal([
          ['large', 1],
          ['small', 1],
        ]);
      }
    });

    it('finds rows by each part of a filter, and by several', async () => {
      const found = {
        keyId: 'k',
        slot: 's',
        model: 'm',
        format: 'chat',
        status: 502,
        code: 'c',
        failed: true,
        team: 'red',
        session: '0123456789abcdef',
      } as const;
      const cache = { cause: 'expired', lostTokens: 5 } as const;
      await store.ledger.append([
        row('1', t0, { ...found, requestId: 'q', cache }),
        row('2', t0 + 5, { keyId: 'k2', team: 'blue', cache: { ...cache, cause: 'provider' } }),
      ]);
      const parts = Object.entries({ ...found, requestId: 'q', cause: 'expired', toMs: t0 + 1 });
      for (const filter of [
        ...parts.map(([name, value]) => ({ [name]: value })),
        Object.fromEntries(parts),
      ]) {
        const { rows } = await store.ledger.requests(filter, { limit: 10 });
        expect(
          rows.map(({ id }) => id),
          JSON.stringify(filter),
        ).to.deep.equal(['1']);
      }
      const ids = async (filter: object) =>
        (await store.ledger.requests(filter, { limit: 9 })).rows.map(({ id }) => id);
      expect(await ids({ fromMs: t0 + 5 })).to.deep.equal(['2']);
      expect(await ids({ failed: false })).to.deep.equal(['2']);
      expect(await ids({ keyId: 'k', status: 200 })).to.deep.equal([]);
    });

    it('has percentiles by step and by group, the same from hours and from rows', async () => {
      const some = seeded(5);
      const below = (max: number) => Math.floor(some() * max);
      const rows = Array.from({ length: 300 }, (_, at) =>
        row(`r${at}`, t0 + below(2 * hour), {
          keyId: `k${below(3)}`,
          slot: `s${below(3)}`,
          ...(below(2) && { model: `m${below(3)}` }),
          format: below(3) ? 'messages' : 'chat',
          attempts: below(9) && 1,
          durationMs: below(20_000),
          ...(below(9) && {
            firstEventMs: below(900),
            firstTokenMs: 900 + below(2000),
            outputMs: 3000 + below(9000),
          }),
          ...(below(5) && { queueMs: below(3) && below(500) }),
        }),
      );
      await store.ledger.append(rows.slice(0, 150));
      await store.ledger.append(rows);
      const latency = (by: UsageQuery['by'], stepMs: number, fields: object = {}) =>
        store.ledger.latency({ fromMs: t0, toMs: t0 + 2 * hour, by, stepMs, ...fields });
      for (const by of [null, 'slot', 'model', 'format'] as const) {
        const ofHours = await latency(by, 2 * hour);
        expect(ofHours, String(by)).to.have.length(
          by === null ? 1 : by === 'model' ? 4 : by === 'slot' ? 3 : 2,
        );
        expect(await latency(by, 2 * hour + 1), String(by)).to.deep.equal(ofHours);
        for (const { atMs, measures } of ofHours) {
          expect(atMs).to.equal(t0);
          expect(Object.keys(measures)).to.have.members([
            'first_token',
            'per_output_token',
            'queue',
            'total',
          ]);
        }
      }
      expect(await latency('key', hour)).to.deep.equal([]);
      expect((await latency('key', 2 * hour + 1)).map(({ group }) => group)).to.deep.equal([
        'k0',
        'k1',
        'k2',
      ]);
      expect(await latency(null, hour, { keyId: 'k1' })).to.deep.equal([]);
      const where = { keyId: 'k1', model: 'm1' };
      const ofKey = await latency('slot', 2 * hour, { where });
      expect(ofKey.map(({ group }) => group)).to.deep.equal(['s0', 's1', 's2']);
      expect(await latency('slot', 2 * hour + 1, { where })).to.deep.equal(ofKey);
      const [ofSlot] = await latency(null, 2 * hour, { where: { slot: 's1' } });
      const bySlot = await latency('slot', 2 * hour);
      expect(ofSlot!.measures).to.deep.equal(bySlot[1]!.measures);
      expect(await latency('tag', 2 * hour + 1)).to.deep.equal([]);
      expect((await latency(null, hour)).map(({ atMs }) => atMs)).to.deep.equal([t0, t0 + hour]);
    });

    it('forgets percentiles with their hours', async () => {
      const old = Array.from({ length: 5 }, (_, at) =>
        row(`o${at}`, t0 + at, { slot: `s${at}`, queueMs: 3 ** at }),
      );
      await store.ledger.append([...old, row('young', t0 + hour, { slot: 's', queueMs: 1 })]);
      for (let step = 0; step < 4; step += 1) await store.ledger.prune(t0 + hour + 5, 2);
      for (const by of [null, 'slot', 'model', 'format'] as const) {
        const query = { fromMs: t0, toMs: t0 + 2 * hour, by, stepMs: hour };
        const left = await store.ledger.latency(query);
        expect(
          left.map(({ atMs }) => atMs - t0),
          String(by),
        ).to.deep.equal([hour]);
      }
    });

    it('sums up by step and by group, the same from hours and from rows', async () => {
      await store.ledger.append([
        row('1', t0, { keyId: 'a', slot: 's', firstEventMs: 10, durationMs: 100 }),
        row('2', t0 + hour - 1, { keyId: 'a', slot: 't', failed: true, durationMs: 7 }),
        row('3', t0 + hour, { keyId: 'b', slot: 's', model: 'm', firstEventMs: 30, durationMs: 1 }),
      ]);
      await store.ledger.append([row('4', t0 + 1, { format: 'chat' })]);
      const rowsOf = (stepMs: number, by: 'key' | 'slot' | 'model' | 'format' | null) =>
        store.ledger.usage({ fromMs: t0, toMs: t0 + 2 * hour, by, stepMs });
      const brief = ({ atMs, group, requests, errors }: UsageSum) => [
        (atMs - t0) / hour,
        group,
        requests,
        errors,
      ];
      expect((await rowsOf(hour, null)).map(brief)).to.deep.equal([
        [0, '', 3, 1],
        [1, '', 1, 0],
      ]);
      expect((await rowsOf(hour, 'key')).map(brief)).to.deep.equal([
        [0, '', 1, 0],
        [0, 'a', 2, 1],
        [1, 'b', 1, 0],
      ]);
      const ofKey = { fromMs: t0, toMs: t0 + 2 * hour, by: null, keyId: 'a' };
      for (const stepMs of [2 * hour, 2 * hour - 1])
        expect((await store.ledger.usage({ ...ofKey, stepMs })).map(brief)).to.deep.equal([[0, '', 2, 1]]);
      expect((await rowsOf(2 * hour, 'slot')).map(brief)).to.deep.equal([
        [0, '', 1, 0],
        [0, 's', 2, 0],
        [0, 't', 1, 1],
      ]);
      expect((await rowsOf(2 * hour, 'format')).map(brief)).to.deep.equal([
        [0, 'chat', 1, 0],
        [0, 'messages', 3, 1],
      ]);
      expect((await rowsOf(hour / 2, null)).map(brief)).to.deep.equal([
        [0, '', 2, 0],
        [0.5, '', 1, 1],
        [1, '', 1, 0],
      ]);
      const [whole] = await rowsOf(24 * hour, null);
      expect(whole).to.deep.equal({
        atMs: t0,
        group: '',
        requests: 4,
        errors: 1,
        billed: times(4, tokens(0)),
        shown: times(4, tokens(1)),
        firstEvents: 2,
        firstEventMsSum: 40,
        durationMsSum: 108,
        billedCost: 0,
        shownCost: 0,
        unpriced: 4,
        cacheLostTokens: 0,
        cacheLostCost: 0,
      });
      expect((await rowsOf(2 * hour - 1, null))[0]).to.include({
        requests: 4,
        firstEvents: 2,
        durationMsSum: 108,
      });
    });

    it('sums up by tag and by the values of one, the same from hours and from rows', async () => {
      const tags = (team: string, feature?: string) => ({ tags: { team, ...(feature && { feature }) } });
      await store.ledger.append([
        row('1', t0, { keyId: 'a', ...tags('red', 'search') }),
        row('2', t0 + 1, { keyId: 'b', ...tags('red'), failed: true }),
        row('3', t0 + hour, { keyId: 'a', ...tags('blue, "x" \u{1F600}') }),
        row('4', t0 + 2, { keyId: 'a' }),
      ]);
      const span = { fromMs: t0, toMs: t0 + 2 * hour, by: 'tag' } as const;
      const brief = async (query: { tag?: string; keyId?: string }, stepMs: number) =>
        (await store.ledger.usage({ ...span, ...query, stepMs })).map((sum) => [
          sum.group,
          sum.requests,
          sum.errors,
        ]);
      for (const stepMs of [2 * hour, 2 * hour - 1]) {
        const byName = [
          ['feature', 1, 0],
          ['team', 3, 1],
        ];
        expect(await brief({}, stepMs)).to.deep.equal(byName);
        const byTeam = await brief({ tag: 'team' }, stepMs);
        expect(byTeam).to.deep.equal([
          ['blue, "x" \u{1F600}', 1, 0],
          ['red', 2, 1],
        ]);
        expect(await brief({ tag: 'team', keyId: 'b' }, stepMs)).to.deep.equal([['red', 1, 1]]);
        expect(await brief({ tag: 'constructor' }, stepMs)).to.deep.equal([]);
      }
      const { rows } = await store.ledger.requests({}, { limit: 9 });
      expect(rows.map((one) => one.tags?.['team'])).to.deep.equal([
        'blue, "x" \u{1F600}',
        undefined,
        'red',
        'red',
      ]);
      expect((await store.ledger.get({ atMs: t0, id: '1' }))?.tags).to.deep.equal(tags('red', 'search').tags);
    });

    it('sums up costs and cache losses, the same from hours and from rows', async () => {
      await store.ledger.append([
        row('1', t0, { keyId: 'a', ...money }),
        row('2', t0 + 1, { keyId: 'a', team: 'blue', cost: { billed: 0, shown: 0 } }),
        row('3', t0 + 2, { keyId: 'b', cache: { cause: 'provider', lostTokens: 5 } }),
      ]);
      await store.ledger.append([row('4', t0 + hour, { billed: noTokens, ...lost('provider', 8) })]);
      const sumsBy = async (by: UsageGroup | null, stepMs: number, keyId?: string) =>
        (
          await store.ledger.usage({
            fromMs: t0,
            toMs: t0 + 2 * hour,
            by,
            stepMs,
            ...(keyId !== undefined && { keyId }),
          })
        ).map((sum) => [sum.group, sum.requests, ...moneyOf(sum)]);
      for (const stepMs of [2 * hour, 2 * hour - 1]) {
        expect(await sumsBy(null, stepMs)).to.deep.equal([['', 4, 7_000_000_123, 45, 1, 1013, 97]]);
        expect(await sumsBy('team', stepMs)).to.deep.equal([
          ['', 2, 0, 0, 1, 13, 0],
          ['blue', 1, 0, 0, 0, 0, 0],
          ['red', 1, 7_000_000_123, 45, 0, 1000, 97],
        ]);
        expect(await sumsBy('cause', stepMs)).to.deep.equal([
          ['client_changed', 1, 7_000_000_123, 45, 0, 1000, 97],
          ['provider', 2, 0, 0, 1, 13, 0],
        ]);
        expect(await sumsBy('cause', stepMs, 'a')).to.deep.equal([
          ['client_changed', 1, 7_000_000_123, 45, 0, 1000, 97],
        ]);
      }
    });

    it('sums up what stages added, the same from hours and from rows', async () => {
      const [persona, search] = [times(2, tokens(0)), tokens(3)];
      await store.ledger.append([
        row('1', t0, { keyId: 'a', additions: { persona: { tokens: persona, cost: 70 } } }),
        row('2', t0 + 1, {
          keyId: 'b',
          failed: true,
          additions: { persona: { tokens: persona }, 'web-"search"': { tokens: search, cost: 0 } },
        }),
        row('3', t0 + 2, { keyId: 'a' }),
      ]);
      await store.ledger.append([row('4', t0 + 3, { additions: { persona: { tokens: noTokens } } })]);
      const span = { fromMs: t0, toMs: t0 + hour, by: 'stage' } as const;
      for (const stepMs of [hour, hour - 1]) {
        const sumsOf = (await store.ledger.usage({ ...span, stepMs })).map((sum) => [
          sum.group,
          sum.requests,
          sum.errors,
          sum.billed,
          sum.shown,
          ...moneyOf(sum),
        ]);
        expect(sumsOf).to.deep.equal([
          ['persona', 3, 1, times(2, persona), noTokens, 70, 0, 1, 0, 0],
          ['web-"search"', 1, 1, search, noTokens, 0, 0, 0, 0, 0],
        ]);
        const ofKey = await store.ledger.usage({ ...span, keyId: 'a', stepMs });
        expect(ofKey.map(({ group, billed }) => [group, billed])).to.deep.equal([['persona', persona]]);
      }
    });

    it('sums up the same from hours and from rows, whatever the rows are', async () => {
      const random = randomRows(t0, 2 * hour);
      const rows = Array.from({ length: 300 }, (_, at) => random(String(at)));
      for (let at = 0; at < rows.length; at += 40) await store.ledger.append(rows.slice(at, at + 40));
      for (const by of [null, 'key', 'team', 'slot', 'model', 'format', 'tag', 'stage', 'cause'] as const) {
        const span = { fromMs: t0, toMs: t0 + 2 * hour, by } as const;
        const fromHours = await store.ledger.usage({ ...span, stepMs: 2 * hour });
        expect(fromHours.length, `${by}`).to.be.greaterThan(0);
        expect(await store.ledger.usage({ ...span, stepMs: 2 * hour + 1 }), `${by}`).to.deep.equal(fromHours);
      }
    });

    it('sums up only the requests that match, the same from hours and from rows', async () => {
      const random = randomRows(t0, 2 * hour);
      const rows = Array.from({ length: 200 }, (_, at) => random(String(at)));
      await store.ledger.append(rows);
      const span = { fromMs: t0, toMs: t0 + 2 * hour };
      const filters: readonly NonNullable<UsageQuery['where']>[] = [
        { keyId: 'k1' },
        { team: 't1' },
        { slot: 's2' },
        { cause: 'expired' },
        { slot: 's2', keyId: 'k0' },
        { failed: true },
        { failed: false, team: 't0' },
        { slot: 'nobody' },
      ];
      for (const where of filters)
        for (const by of [null, 'key', 'team', 'slot', 'tag', 'stage', 'cause'] as const) {
          const fromHours = await store.ledger.usage({ ...span, by, where, stepMs: 2 * hour });
          const fromRows = await store.ledger.usage({ ...span, by, where, stepMs: 2 * hour + 1 });
          const name = `${JSON.stringify(where)} by ${by}`;
          expect(fromRows, name).to.deep.equal(fromHours);
          if (by !== null && by !== 'key') continue;
          const requests = fromHours.reduce((total, sum) => total + sum.requests, 0);
          const { rows: found } = await store.ledger.requests(where, { limit: 1000 });
          expect(requests, name).to.equal(found.length);
        }
    });

    it('forgets the sums of teams, stages and causes with their hours', async () => {
      await store.ledger.append([row('1', t0, money), row('2', t0 + hour)]);
      await store.ledger.prune(t0 + hour, 10);
      const span = { fromMs: t0, toMs: t0 + 2 * hour, stepMs: hour };
      for (const by of ['stage', 'cause'] as const)
        expect(await store.ledger.usage({ ...span, by })).to.deep.equal([]);
      expect((await store.ledger.usage({ ...span, by: 'team' })).map(({ group }) => group)).to.deep.equal([
        '',
      ]);
    });

    it('forgets the sums of tags with their hours', async () => {
      const tagged = ['1', '2', '3', '4', '5'].map((id, at) => row(id, t0 + at, { tags: { user: id } }));
      await store.ledger.append([...tagged, row('young', t0 + hour, { tags: { user: 'x' } })]);
      for (let step = 0; step < 4; step += 1) await store.ledger.prune(t0 + hour + 5, 2);
      const span = { fromMs: t0, toMs: t0 + 2 * hour, stepMs: hour, by: 'tag' } as const;
      const groups = async (query: object) =>
        (await store.ledger.usage({ ...span, ...query })).map(({ atMs, group }) => [atMs - t0, group]);
      expect(await groups({ tag: 'user' })).to.deep.equal([[hour, 'x']]);
      expect(await groups({})).to.deep.equal([[hour, 'user']]);
    });

    it('gives no more sums than are asked for', async () => {
      await store.ledger.append(['a', 'b', 'c'].map((slot, at) => row(slot, t0 + at, { slot })));
      const query = { fromMs: t0, toMs: t0 + hour, by: 'slot', limit: 2 } as const;
      for (const stepMs of [hour, 60_000]) {
        const found = await store.ledger.usage({ ...query, stepMs });
        expect(found.map(({ group }) => group)).to.deep.equal(['a', 'b']);
      }
    });

    it('gives as many sums of answered requests as are asked for, where all of a group have failed', async () => {
      await store.ledger.append(
        ['a', 'b', 'c', 'd'].map((slot, at) => row(slot, t0 + at, { slot, failed: slot === 'a' })),
      );
      const query = { fromMs: t0, toMs: t0 + hour, by: 'slot', where: { failed: false }, limit: 2 } as const;
      for (const stepMs of [hour, 60_000]) {
        const found = await store.ledger.usage({ ...query, stepMs });
        expect(found.map(({ group }) => group)).to.deep.equal(['b', 'c']);
      }
    });

    it('widens a range to whole hours where it answers by hours, and not where it counts rows', async () => {
      await store.ledger.append([row('1', t0 + 1), row('2', t0 + hour + 5), row('3', t0 + 2 * hour)]);
      const requests = async (fromMs: number, toMs: number, stepMs: number) =>
        (await store.ledger.usage({ fromMs, toMs, by: null, stepMs })).map((sum) => sum.requests);
      expect(await requests(t0 + 2, t0 + hour + 1, hour)).to.deep.equal([1, 1]);
      expect(await requests(t0 + 2, t0 + hour + 6, 60_000)).to.deep.equal([1]);
    });

    it('forgets whole hours in steps', async () => {
      await store.ledger.append(['1', '2', '3', '4', '5'].map((id, at) => row(id, t0 + at)));
      await store.ledger.append([row('young', t0 + hour)]);
      const steps = [];
      for (let step = 0; step < 4; step += 1) steps.push((await store.ledger.prune(t0 + hour + 5, 2)).isDone);
      expect(steps).to.deep.equal([false, false, true, true]);
      expect((await store.ledger.requests({}, { limit: 9 })).rows.map(({ id }) => id)).to.deep.equal([
        'young',
      ]);
      expect((await sums(store, t0, hour)).map(({ requests }) => requests)).to.deep.equal([1]);
    });
  });
}

/** A row with nothing but what a row must have. */
export function row(id: string, atMs: number, fields: Partial<LedgerRow> = {}): LedgerRow {
  return {
    id,
    atMs,
    requestId: `req ${id}`,
    format: 'messages',
    pipeline: 'default',
    status: 200,
    failed: false,
    streamed: true,
    attempts: 1,
    durationMs: 0,
    billed: tokens(0),
    shown: tokens(1),
    ...fields,
  };
}

function tokens(from: number): LedgerTokens {
  return {
    input: from + 1,
    cacheRead: from + 2,
    cacheWrite5m: from + 3,
    cacheWrite1h: from + 4,
    output: from + 5,
  };
}

const noTokens = times(0, tokens(0));

/** A row's fields of money, all of them. */
export const money = {
  team: 'red',
  session: '0123456789abcdef',
  queueMs: 12,
  outputMs: 345,
  cost: { billed: 7_000_000_123, shown: 45 },
  additions: {
    'persona-inject': { tokens: tokens(7), cost: 20 },
    'web-search-tool': { tokens: tokens(9) },
  },
  cache: { cause: 'client_changed', lostTokens: 1000, lostCost: 97 },
} as const satisfies Partial<LedgerRow>;

function lost(cause: CacheCause, lostTokens: number): Pick<LedgerRow, 'cache'> {
  return { cache: { cause, lostTokens } };
}

function moneyOf(sum: UsageSum): readonly number[] {
  return [sum.billedCost, sum.shownCost, sum.unpriced, sum.cacheLostTokens, sum.cacheLostCost];
}

/** Rows of any groups and amounts, the same ones in every run. */
function randomRows(fromMs: number, spanMs: number): (id: string) => LedgerRow {
  const random = seeded(14);
  const below = (max: number) => Math.floor(random() * max);
  const tokensBelow = (max: number) => ({
    input: below(max),
    cacheRead: below(max),
    cacheWrite5m: 0,
    cacheWrite1h: below(max),
    output: below(max),
  });
  const cost = () => below(5e9);
  const addition = () => ({ tokens: tokensBelow(50), ...(below(2) && { cost: cost() }) });
  return (id) => {
    const maxTokens = below(4) && 1e6;
    return row(id, fromMs + below(spanMs), {
      keyId: `k${below(3)}`,
      ...(below(2) && { team: `t${below(3)}` }),
      slot: `s${below(3)}`,
      failed: below(4) === 0,
      durationMs: below(9000),
      billed: tokensBelow(maxTokens),
      shown: tokensBelow(maxTokens),
      ...(below(2) && { cost: { billed: cost(), shown: cost() } }),
      ...(below(2) && { additions: { a: addition(), [`b${below(2)}`]: addition() } }),
      ...(below(3) === 0 && lost(below(2) ? 'expired' : 'unknown', below(9000))),
      ...(below(2) && { tags: { feature: `f${below(3)}` } }),
    });
  };
}

function times(factor: number, one: LedgerTokens): LedgerTokens {
  const entries = Object.entries(one).map(([field, amount]) => [field, factor * amount]);
  return Object.fromEntries(entries) as LedgerTokens;
}

async function sums(store: Store, fromMs: number, stepMs: number): Promise<readonly UsageSum[]> {
  return store.ledger.usage({ fromMs, toMs: fromMs + 2 * 3_600_000, by: null, stepMs });
}
