import { expect } from 'chai';
import { row } from './ledger-conformance.js';
import { pipelineHolders } from '#src/state/keys/pipeline-holders.js';
import type { UsageGroup } from '#src/plugin/contract/ledger.js';
import type { WholeStore } from '#src/state/store/contract/store.js';

/** Pipelines that keys and teams of every store name. */
export function describePipelines(storeNow: () => WholeStore, nowMs: () => number): void {
  describe('pipelines of its keys and teams', () => {
    const putKey = (id: string, fields: object) =>
      storeNow().keys.put({
        id,
        name: `name of ${id}`,
        hash: id,
        last4: 'abcd',
        createdAtMs: 1000 + Number(id.slice(1)),
        ...fields,
      });
    const putTeam = (id: string, fields: object) =>
      storeNow().teams.put({ id, name: `name of ${id}`, createdAtMs: 1000, ...fields });
    const holderIds = async (names: readonly string[], limit?: number) =>
      (await pipelineHolders(storeNow(), names, limit)).map(({ id }) => id);

    it('are set, kept by a rotation, and removed by a patch', async () => {
      const { keys, teams } = storeNow();
      await putKey('k1', {});
      await putTeam('t1', {});
      expect(await keys.update('k1', { pipeline: 'red' })).to.include({ pipeline: 'red' });
      expect(await keys.rotate('k1', { hash: 'new', last4: 'next' }, nowMs())).to.include({
        pipeline: 'red',
      });
      expect(await keys.findByHash('new')).to.include({ pipeline: 'red' });
      expect(await keys.update('k1', { pipeline: null })).not.to.have.property('pipeline');
      expect(await teams.update('t1', { pipeline: 'red' })).to.include({ pipeline: 'red' });
      expect(await teams.get('t1')).to.include({ pipeline: 'red' });
      expect(await teams.update('t1', { pipeline: null })).not.to.have.property('pipeline');
    });

    it('have holders: valid keys, the newest first, and teams, by name', async () => {
      const endMs = nowMs();
      await putKey('k1', { pipeline: 'red' });
      await putKey('k2', { pipeline: 'red', expiresAtMs: endMs + 1 });
      await putKey('k3', { pipeline: 'blue' });
      await putKey('k4', { pipeline: 'red', revokedAtMs: 1 });
      await putKey('k5', { pipeline: 'red', expiresAtMs: endMs });
      await putKey('k6', { pipeline: 'default' });
      await putKey('k7', {});
      await putTeam('t1', { pipeline: 'red', name: 'search' });
      await putTeam('t2', { pipeline: 'green', name: 'mail' });
      await putTeam('t3', { pipeline: 'default' });
      await putTeam('t4', {});
      expect(await pipelineHolders(storeNow(), ['blue', 'green'])).to.deep.equal([
        { kind: 'key', id: 'k2', name: 'name of k2', pipeline: 'red' },
        { kind: 'key', id: 'k1', name: 'name of k1', pipeline: 'red' },
        { kind: 'team', id: 't1', name: 'search', pipeline: 'red' },
      ]);
      expect(await holderIds(['red', 'blue', 'green'])).to.deep.equal([]);
      expect(await holderIds([])).to.deep.equal(['k3', 'k2', 'k1', 't2', 't1']);
    });

    it('have as many holders as asked for, ten by default', async () => {
      for (let at = 1; at <= 9; at += 1) await putKey(`k${at}`, { pipeline: 'red' });
      for (const id of ['t1', 't2', 't3']) await putTeam(id, { pipeline: 'red' });
      expect(await holderIds([]))
        .to.have.length(10)
        .and.include('t1')
        .and.not.include('t2');
      expect(await holderIds([], 2)).to.deep.equal(['k9', 'k8']);
      const many = Array.from({ length: 200 }, (_, at) => `pipeline-${at}`);
      expect(await holderIds(many, 20)).to.have.length(12);
    });
  });

  describe('pipelines of its requests', () => {
    const atMs = Date.UTC(2026, 0, 1, 10, 5);
    const hour = 3_600_000;
    beforeEach(async () => {
      const { pipeline: _, ...older } = row('old', atMs);
      await storeNow().ledger.append([
        row('1', atMs, { pipeline: 'red', keyId: 'k1' }),
        row('2', atMs, { pipeline: 'red', keyId: 'k2', failed: true }),
        row('3', atMs, { pipeline: 'blue', keyId: 'k1' }),
        row('4', atMs, { keyId: 'k1' }),
        row('5', atMs + hour, { pipeline: 'red' }),
        row('6', atMs + 2 * hour),
        { ...older, atMs: atMs + 2 * hour } as typeof older & { pipeline: string }, // as an older version spooled it
      ]);
    });
    const usage = async (by: UsageGroup | null, where: object, { stepMs = hour, limit = 100 } = {}) => {
      const times = { fromMs: atMs - 1, toMs: atMs + 2 * hour + 1 };
      const sums = await storeNow().ledger.usage({ ...times, by, where, stepMs, limit });
      return sums.map(({ group, requests }) => [group, requests]);
    };
    const each = [
      ['blue', 1],
      ['default', 1],
      ['red', 2],
      ['red', 1],
      ['default', 2],
    ];

    it('are groups of the usage, by whole hours and from the rows', async () => {
      for (const stepMs of [hour, hour / 2])
        expect(await usage('pipeline', {}, { stepMs }), `${stepMs}`).to.deep.equal(each);
      expect(await usage('pipeline', {}, { limit: 2 })).to.deep.equal(each.slice(0, 2));
      const inDay = [
        ['blue', 1],
        ['default', 3],
        ['red', 3],
      ];
      expect(await usage('pipeline', {}, { stepMs: 24 * hour })).to.deep.equal(inDay);
    });

    it('are conditions of the usage, by whole hours and from the rows, alone and with others', async () => {
      for (const stepMs of [hour, hour / 2]) {
        const of = (by: UsageGroup | null, where: object) => usage(by, where, { stepMs });
        expect(await of(null, { pipeline: 'red' })).to.deep.equal([
          ['', 2],
          ['', 1],
        ]);
        expect(await of(null, { pipeline: 'default' })).to.deep.equal([
          ['', 1],
          ['', 2],
        ]);
        expect(await of('pipeline', { pipeline: 'default' })).to.deep.equal([each[1], each[4]]);
        expect(await of('pipeline', { pipeline: 'red' })).to.deep.equal([each[2], each[3]]);
        expect(await of('pipeline', { keyId: 'k1' })).to.deep.equal([
          ['blue', 1],
          ['default', 1],
          ['red', 1],
        ]);
        expect(await of('key', { pipeline: 'red' })).to.deep.equal([
          ['k1', 1],
          ['k2', 1],
          ['', 1],
        ]);
        expect(await of('pipeline', { failed: true })).to.deep.equal([['red', 1]]);
        expect(await of('pipeline', { failed: false })).to.deep.equal([
          each[0],
          each[1],
          ['red', 1],
          each[3],
          each[4],
        ]);
        expect(await of(null, { pipeline: 'green' })).to.deep.equal([]);
      }
    });

    it('are found by name, rows of older versions among those of the default', async () => {
      const found = async (pipeline: string) => {
        const { rows } = await storeNow().ledger.requests({ pipeline }, { limit: 10 });
        return rows.map(({ id }) => id);
      };
      expect(await found('red')).to.deep.equal(['5', '2', '1']);
      expect(await found('green')).to.deep.equal([]);
      expect(await found('default')).to.include.members(['4', '6']);
    });

    it('are pruned with their sums', async () => {
      const { ledger } = storeNow();
      while (!(await ledger.prune(atMs + 3 * hour, 100)).isDone);
      expect(await usage('pipeline', {})).to.deep.equal([]);
    });
  });

  describe('calls of stages in its ledger', () => {
    const atMs = Date.UTC(2026, 0, 1, 10, 5);
    const hour = 3_600_000;
    const parent = `${atMs}.1`;
    beforeEach(() =>
      storeNow().ledger.append([
        row('1', atMs, { keyId: 'k1' }),
        row('2', atMs, { keyId: 'k1', parent, label: 'guard' }),
        row('3', atMs, { keyId: 'k2', parent, label: 'mirror' }),
        row('4', atMs, { keyId: 'k1', label: 'guard' }),
        row('5', atMs + hour),
      ]),
    );

    it('are read with their parent and label, which requests of callers lack', async () => {
      const { rows } = await storeNow().ledger.requests({}, { limit: 10 });
      expect(rows.map(({ id, parent: of, label }) => [id, of, label])).to.deep.equal([
        ['5', undefined, undefined],
        ['4', undefined, 'guard'],
        ['3', parent, 'mirror'],
        ['2', parent, 'guard'],
        ['1', undefined, undefined],
      ]);
    });

    it('are found by parent and label, alone and with others', async () => {
      const found = async (filter: object) => {
        const { rows } = await storeNow().ledger.requests(filter, { limit: 10 });
        return rows.map(({ id }) => id);
      };
      expect(await found({ parent })).to.deep.equal(['3', '2']);
      expect(await found({ label: 'guard' })).to.deep.equal(['4', '2']);
      expect(await found({ parent, label: 'guard', keyId: 'k1' })).to.deep.equal(['2']);
      expect(await found({ parent: '1.none' })).to.deep.equal([]);
    });

    it('are groups and conditions of the usage, by whole hours and from the rows', async () => {
      for (const stepMs of [hour, hour / 2]) {
        const times = { fromMs: atMs - 1, toMs: atMs + hour + 1, stepMs };
        const usage = async (by: UsageGroup | null, where: object = {}) => {
          const sums = await storeNow().ledger.usage({ ...times, by, where });
          return sums.map(({ group, requests }) => [group, requests]);
        };
        expect(await usage('label'), `${stepMs}`).to.deep.equal([
          ['', 1],
          ['guard', 2],
          ['mirror', 1],
          ['', 1],
        ]);
        expect(await usage(null, { label: 'guard' })).to.deep.equal([['', 2]]);
        expect(await usage('label', { keyId: 'k1' })).to.deep.equal([
          ['', 1],
          ['guard', 2],
        ]);
        expect(await usage('key', { parent })).to.deep.equal([
          ['k1', 1],
          ['k2', 1],
        ]);
      }
    });
  });
}
