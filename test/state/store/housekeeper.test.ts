import { setImmediate as immediate } from 'node:timers/promises';
import { expect } from 'chai';
import { fakeHost } from '@gw2api/gateway/testing';
import type { AuditEntry } from '#src/state/store/contract/audit.js';
import type { Store } from '#src/state/store/contract/store.js';
import { Housekeeper } from '#src/state/store/housekeeper.js';
import { MemoryHub } from '#src/state/live/memory/hub.js';
import { MemoryStore } from '#src/state/store/memory/store.js';
import { row } from './ledger-conformance.js';
import { quiet } from './stores.js';
import { clockAt } from '../../clock-at.js';

const dayMs = 86_400_000;

describe('the housekeeper', () => {
  const nowMs = Date.UTC(2026, 5, 1);
  const now = () => nowMs;

  it('deletes what is over, all of it, and leaves the rest', async () => {
    const store = new MemoryStore({ now });
    for (let at = 0; at < 1200; at += 1)
      await store.bindings.put(`s${at}`, { slotId: 'a', expiresAtMs: at < 1100 ? nowMs : nowMs + 1 });
    await store.ledger.append([row('old', nowMs - 91 * dayMs), row('young', nowMs - 89 * dayMs)]);
    await store.audit.append([entry('old', nowMs - 366 * dayMs), entry('young', nowMs - 364 * dayMs)]);
    const keeper = new Housekeeper({
      store,
      live: new MemoryHub().connect(),
      keepDays: { ledger: 90, audit: 365 },
      log: quiet,
      clock: clockAt(now),
    });
    await keeper.cleanUp();
    expect(await store.bindings.deleteExpired(1)).to.deep.equal({ isDone: true });
    expect(await store.bindings.get('s1150')).to.not.equal(undefined);
    const { rows } = await store.ledger.requests({}, { limit: 10 });
    expect(rows.map(({ id }) => id)).to.deep.equal(['young']);
    const { entries } = await store.audit.page({}, { limit: 10 });
    expect(entries.map(({ id }) => id)).to.deep.equal(['young']);
    await keeper.close();
  });

  it('deletes error texts after a week, and with the rows where these go before that', async () => {
    for (const [keepDays, left] of [
      [90, ['8', '6', '3', '0']],
      [4, ['3', '0']],
    ] as const) {
      const store = new MemoryStore({ now });
      const rows = [0, 3, 6, 8].map((days) => ({
        ...row(String(days), nowMs - days * dayMs, { failed: true }),
        errorTexts: { text: 'no', calls: [] },
      }));
      await store.ledger.append(rows);
      const keeper = new Housekeeper({
        store,
        live: new MemoryHub().connect(),
        keepDays: { ledger: keepDays, audit: 365 },
        log: quiet,
        clock: clockAt(now),
      });
      await keeper.cleanUp();
      expect((await store.errorTexts.find(rows)).size).to.equal(keepDays === 4 ? 2 : 3);
      const { rows: kept } = await store.ledger.requests({}, { limit: 10 });
      expect(kept.map(({ id }) => id).toReversed()).to.deep.equal(left);
      await keeper.close();
    }
  });

  it('says when it cannot, and tries again the next time', async () => {
    const host = fakeHost();
    const store = new MemoryStore({ now });
    let isGone = true;
    const prune: Store['ledger']['prune'] = async (beforeMs, limit) => {
      if (isGone) throw new Error('gone');
      return store.ledger.prune(beforeMs, limit);
    };
    await store.ledger.append([row('old', nowMs - 91 * dayMs)]);
    const { bindings, responses, sessions, slotStates, spaces, ledger, errorTexts, audit, slotHistory } =
      store;
    const parts = {
      bindings,
      responses,
      sessions,
      slotStates,
      spaces,
      errorTexts,
      audit,
      slotHistory,
      ledger: { ...asLedger(ledger), prune },
    };
    const keeper = new Housekeeper({
      store: parts,
      live: new MemoryHub().connect(),
      keepDays: { ledger: 90, audit: 365 },
      log: host.log,
      clock: clockAt(now),
    });
    await keeper.cleanUp();
    expect(host.logged.map(({ level }) => level)).to.deep.equal(['warn']);
    isGone = false;
    await keeper.cleanUp();
    expect((await store.ledger.requests({}, { limit: 10 })).rows).to.deep.equal([]);
    await keeper.close();
  });

  it('leaves a round to whichever instance comes first, and does not wait for it to close', async () => {
    const hub = new MemoryHub();
    const rounds: string[] = [];
    let end = (): void => undefined;
    const keepers = ['a', 'b'].map((name) => {
      const store = new MemoryStore({ now });
      const prune = async () => {
        rounds.push(name);
        await new Promise<void>((resolve) => void (end = resolve));
        return { isDone: true };
      };
      const { bindings, responses, sessions, slotStates, spaces, ledger, errorTexts, audit, slotHistory } =
        store;
      const parts = {
        bindings,
        responses,
        sessions,
        slotStates,
        spaces,
        errorTexts,
        audit,
        slotHistory,
        ledger: { ...asLedger(ledger), prune },
      };
      return new Housekeeper({
        store: parts,
        live: hub.connect(),
        keepDays: { ledger: 90, audit: 365 },
        log: quiet,
        clock: clockAt(now),
      });
    });
    const [a, b] = keepers;
    const over = Promise.all([a!.cleanUp(), b!.cleanUp()]);
    while (rounds.length === 0) await immediate();
    await b!.close();
    end();
    await over;
    expect(rounds).to.deep.equal(['a']);
    await a!.close();
  });
});

function entry(id: string, atMs: number): AuditEntry {
  return { id, atMs, actor: { kind: 'master', name: 'master' }, action: 'key.create', outcome: 'done' };
}

function asLedger(ledger: Store['ledger']): Store['ledger'] {
  return {
    append: (rows) => ledger.append(rows),
    requests: (filter, page) => ledger.requests(filter, page),
    get: (row) => ledger.get(row),
    find: (rows) => ledger.find(rows),
    usage: (query) => ledger.usage(query),
    latency: (query) => ledger.latency(query),
    prune: (beforeMs, limit) => ledger.prune(beforeMs, limit),
  };
}
