import { expect } from 'chai';
import type { LedgerRow } from '#src/state/ledger/contract.js';
import type { ProtocolKey } from '#src/plugin/index.js';
import type { Team } from '#src/plugin/contract/store.js';
import type { WholeStore } from '#src/state/store/contract/store.js';

/** The teams of every store. */
export function describeTeams(storeNow: () => WholeStore): void {
  describe('its teams', () => {
    it('are found by id, and in a list by name', async () => {
      const { teams } = storeNow();
      const full = team('t1', 'ops', {
        requestsPerMinute: 1,
        tokensPerMinute: 2,
        tokensPerDay: 3,
        tokensPerMonth: 2 ** 40,
        usdPerDay: 0.1,
        usdPerMonth: 1e6,
        maxConcurrent: 5,
        pipeline: 'red',
        note: 'über "alles"',
      });
      const others = [team('t2', 'Zebra'), team('t3', 'ops'), team('t4', 'mail')];
      for (const each of [full, ...others]) await teams.put(each);
      expect(await teams.get('t1')).to.deep.equal(full);
      expect(await teams.get('t5')).to.equal(undefined);
      const listed = (await teams.list()).map(({ id }) => id);
      expect(listed).to.deep.equal(['t2', 't4', 't1', 't3']);
    });

    it('take a patch: what it names is set, null takes away, the rest stays', async () => {
      const { teams } = storeNow();
      await teams.put(team('t1', 'ops', { note: 'n', usdPerDay: 5, tokensPerDay: 7 }));
      const after = team('t1', 'support', { usdPerDay: 0.25, tokensPerDay: 7 });
      expect(await teams.update('t1', { name: 'support', note: null, usdPerDay: 0.25 })).to.deep.equal(after);
      expect(await teams.get('t1')).to.deep.equal(after);
      expect(await teams.update('t1', {})).to.deep.equal(after);
      expect(await teams.update('nobody', { name: 'x' })).to.equal(undefined);
    });

    it('cannot be deleted as long as a key belongs to them, and keep their names after that', async () => {
      const { teams, keys } = storeNow();
      for (const id of ['t1', 't2']) await teams.put(team(id, `the name of ${id}`));
      await keys.put(keyOf('t1'));
      expect(await teams.delete('t1')).to.equal(false);
      expect(await teams.get('t1')).to.include({ id: 't1' });
      expect(await keys.update('k1', { team: 't2' })).to.include({ team: 't2' });
      expect(await teams.delete('t1')).to.equal(true);
      expect(await teams.delete('t1')).to.equal(false);
      expect(await teams.get('t1')).to.equal(undefined);
      expect(Object.fromEntries(await teams.names())).to.deep.equal({
        t1: 'the name of t1',
        t2: 'the name of t2',
      });
    });

    it('have their own part of the usage, by whole hours and from the rows', async () => {
      const { ledger } = storeNow();
      const atMs = Date.UTC(2026, 0, 1, 10, 5);
      await ledger.append([
        row('1', atMs, { keyId: 'k1', team: 't1' }),
        row('2', atMs, { keyId: 'k2', team: 't1' }),
        row('3', atMs, { keyId: 'k2', team: 't2' }),
        row('4', atMs, { keyId: 'k3' }),
      ]);
      const requests = async (filter: { readonly team: string; readonly keyId?: string }, stepMs: number) => {
        const sums = await ledger.usage({
          fromMs: atMs - 1,
          toMs: atMs + 1,
          by: null,
          stepMs,
          where: filter,
        });
        return sums.reduce((sum, each) => sum + each.requests, 0);
      };
      for (const stepMs of [3_600_000, 60_000]) {
        expect(await requests({ team: 't1' }, stepMs)).to.equal(2);
        expect(await requests({ team: 't2' }, stepMs)).to.equal(1);
        expect(await requests({ team: 't3' }, stepMs)).to.equal(0);
      }
      expect(await requests({ team: 't1', keyId: 'k2' }, 60_000)).to.equal(1);
    });
  });
}

function team(id: string, name: string, fields: Partial<Team> = {}): Team {
  return { id, name, createdAtMs: 1000, ...fields };
}

function keyOf(teamId: string): ProtocolKey {
  return { id: 'k1', name: 'laptop', hash: 'h', last4: 'abcd', createdAtMs: 1, team: teamId };
}

function row(id: string, atMs: number, fields: Partial<LedgerRow>): LedgerRow {
  const tokens = { input: 1, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 };
  return {
    id,
    atMs,
    requestId: 'r',
    format: 'messages',
    pipeline: 'default',
    status: 200,
    failed: false,
    streamed: false,
    attempts: 1,
    durationMs: 1,
    billed: tokens,
    shown: tokens,
    ...fields,
  };
}
