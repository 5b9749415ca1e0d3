import { expect } from 'chai';
import type { AdminToken } from '#src/state/store/contract/admin-token.js';
import type { AuditEntry } from '#src/state/store/contract/audit.js';
import type { WholeStore } from '#src/state/store/contract/store.js';

/** The audit log and the admin tokens of every store. */
export function describeAudit(storeNow: () => WholeStore): void {
  describe('its audit log', () => {
    it('keeps entries whole, and gives them newest first', async () => {
      const { audit } = storeNow();
      const full = entry('b', 5, {
        target: 'key_1',
        outcome: 'refused',
        code: 'conflict',
        before: { name: 'über "alles"', models: null },
        after: { name: 'x', models: ['a', 1, true] },
        address: '::1',
        requestId: 'req_1',
      });
      await audit.append([entry('a', 5), full]);
      await audit.append([entry('c', 4), entry('d', 6)]);
      await audit.append([]);
      const { entries, cursor } = await audit.page({}, { limit: 10 });
      expect(entries).to.deep.equal([entry('d', 6), full, entry('a', 5), entry('c', 4)]);
      expect(cursor).to.equal(undefined);
    });

    it('leaves an entry that is there as it is', async () => {
      const { audit } = storeNow();
      await audit.append([entry('a', 5)]);
      await audit.append([entry('a', 5, { action: 'key.delete' }), entry('b', 5)]);
      const { entries } = await audit.page({}, { limit: 10 });
      expect(entries).to.deep.equal([entry('b', 5), entry('a', 5)]);
    });

    it('gives every entry once over its pages, also those of one millisecond', async () => {
      const { audit } = storeNow();
      const all = Array.from({ length: 23 }, (_, at) =>
        entry(`e${String(at).padStart(2, '0')}`, Math.floor(at / 10)),
      );
      await audit.append(all.toSorted(() => 0.5));
      const found: AuditEntry[] = [];
      let cursor: string | undefined;
      do {
        const page = await audit.page({}, { limit: 7, ...(cursor !== undefined && { cursor }) });
        found.push(...page.entries);
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(found).to.deep.equal(all.toReversed());
      const wrong = await audit.page({}, { limit: 7, cursor: 'x' }).catch((error: unknown) => error);
      expect(wrong).to.be.instanceOf(TypeError);
    });

    it('finds by actor, action, subject, target, outcome and time', async () => {
      const { audit } = storeNow();
      const [ann, bob] = (['ann', 'bob'] as const).map((name) => ({ kind: 'oidc', name }) as const);
      await audit.append([
        entry('a', 1, { actor: ann!, action: 'key.create', target: 'k1' }),
        entry('b', 2, { actor: bob!, action: 'key.update', target: 'k1', outcome: 'refused' }),
        entry('c', 3, { actor: ann!, action: 'keys.export' }),
        entry('d', 4, { actor: bob!, action: 'slot.pause', target: 's1' }),
      ]);
      const found = async (filter: Parameters<typeof audit.page>[0]) =>
        (await audit.page(filter, { limit: 10 })).entries.map(({ id }) => id).join('');
      expect(await found({ actor: 'ann' })).to.equal('ca');
      expect(await found({ action: 'key.update' })).to.equal('b');
      expect(await found({ action: 'key.*' })).to.equal('ba');
      expect(await found({ target: 'k1' })).to.equal('ba');
      expect(await found({ target: 'k1', actor: 'bob' })).to.equal('b');
      expect(await found({ outcome: 'refused' })).to.equal('b');
      expect(await found({ fromMs: 2, toMs: 4 })).to.equal('cb');
      expect(await found({ actor: 'nobody' })).to.equal('');
    });

    it('loses its oldest entries by age alone, some at a time', async () => {
      const { audit } = storeNow();
      await audit.append([1, 2, 3, 4, 5].map((at) => entry(`e${at}`, at)));
      expect(await audit.prune(5, 0)).to.deep.equal({ isDone: false });
      expect(await audit.prune(5, 3)).to.deep.equal({ isDone: false });
      expect(await audit.prune(5, 3)).to.deep.equal({ isDone: true });
      expect(await audit.prune(5, 3)).to.deep.equal({ isDone: true });
      expect((await audit.page({}, { limit: 10 })).entries).to.deep.equal([entry('e5', 5)]);
    });
  });

  describe('its admin tokens', () => {
    it('are found by hash, by id, and in a list with the newest first', async () => {
      const { adminTokens } = storeNow();
      const full = token('t1', { expiresAtMs: 2 ** 45, lastUsedAtMs: 2 ** 45, revokedAtMs: 7 });
      const bare = token('t2', { createdAtMs: 2000 });
      expect(await adminTokens.add(full)).to.equal(true);
      expect(await adminTokens.add(bare)).to.equal(true);
      expect(await adminTokens.findByHash('hash of t1')).to.deep.equal(full);
      expect(await adminTokens.findByHash('t1')).to.equal(undefined);
      expect(await adminTokens.get('t2')).to.deep.equal(bare);
      expect(await adminTokens.get('t3')).to.equal(undefined);
      expect(await adminTokens.list()).to.deep.equal([bare, full]);
    });

    it('have names of their own: of two at once, one is stored', async () => {
      const { adminTokens } = storeNow();
      const same = ['t1', 't2'].map((id) => adminTokens.add(token(id, { name: 'ci' })));
      expect(await Promise.all(same)).to.have.members([false, true]);
      const [stored, ...others] = await adminTokens.list();
      expect(others).to.deep.equal([]);
      await adminTokens.delete(stored!.id);
      expect(await adminTokens.add(token('t3', { name: 'ci' }))).to.equal(true);
    });

    it('are revoked once, and deleted once', async () => {
      const { adminTokens } = storeNow();
      await adminTokens.add(token('t1'));
      expect(await adminTokens.revoke('t1', 5)).to.deep.equal(token('t1', { revokedAtMs: 5 }));
      expect(await adminTokens.revoke('t1', 6)).to.deep.equal(token('t1', { revokedAtMs: 5 }));
      expect(await adminTokens.revoke('nobody', 6)).to.equal(undefined);
      expect(await adminTokens.delete('t1')).to.equal(true);
      expect(await adminTokens.delete('t1')).to.equal(false);
      expect(await adminTokens.findByHash('hash of t1')).to.equal(undefined);
    });

    it('know their last use, which never goes back', async () => {
      const { adminTokens } = storeNow();
      await adminTokens.add(token('t1'));
      const used = [
        ['t1', 9],
        ['nobody', 9],
      ] as const;
      await adminTokens.touch(new Map(used));
      await adminTokens.touch(new Map([['t1', 8]]));
      expect((await adminTokens.get('t1'))?.lastUsedAtMs).to.equal(9);
    });
  });
}

function entry(id: string, atMs: number, rest: Partial<AuditEntry> = {}): AuditEntry {
  const actor = { kind: 'master', name: 'master' } as const;
  return { id, atMs, actor, action: 'key.create', outcome: 'done', ...rest };
}

function token(id: string, rest: Partial<AdminToken> = {}): AdminToken {
  return {
    id,
    name: `name of ${id}`,
    hash: `hash of ${id}`,
    last4: 'abcd',
    scopes: ['metrics', 'slots:read'],
    createdBy: 'ann',
    createdAtMs: 1000,
    ...rest,
  };
}
