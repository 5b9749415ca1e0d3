import { expect } from 'chai';
import { pipelineHolders } from '#src/state/keys/pipeline-holders.js';
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
}
