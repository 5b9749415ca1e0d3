import { setImmediate as immediate } from 'node:timers/promises';
import { expect } from 'chai';
import { openDatabase } from '#src/state/store/sql/sqlite/driver.js';
import { Housekeeper } from '#src/state/store/housekeeper.js';
import { openStore } from '#src/state/store/index.js';
import { MemoryHub } from '#src/state/live/memory/hub.js';
import { heldBytes } from '../../held-bytes.js';
import { row } from './ledger-conformance.js';
import { ownSqlite, quiet } from './stores.js';
import { clockAt } from '../../clock-at.js';

const dayMs = 86_400_000;

describe('the housekeeper', () => {
  const nowMs = Date.UTC(2026, 5, 1);
  const now = () => nowMs;

  it('deletes 100,000 rows at flat memory, and lets others have their turn', async function () {
    this.timeout(120_000); // writes of 100,000 rows, on a slow disk too
    const { where, remove } = await ownSqlite();
    const store = await openStore(where, { log: quiet, now });
    await store.ledger.append([row('seed', nowMs - 200 * dayMs, { keyId: 'k', slot: 's', model: 'm' })]);
    copySeed(where.file, 100_000);
    const keeper = new Housekeeper({
      store,
      live: new MemoryHub().connect(),
      keepDays: { ledger: 90, audit: 365 },
      log: quiet,
      clock: clockAt(now),
    });
    const before = heldBytes();
    const round = keeper.cleanUp().then(() => 'over');
    const turnsMs: number[] = [];
    const held: number[] = [];
    for (let state = ''; state !== 'over'; state = await Promise.race([round, immediate('under way')])) {
      const begun = process.cpuUsage();
      await store.keys.get('anybody');
      const { user, system } = process.cpuUsage(begun); // not the clock's time: the machine may stand still
      turnsMs.push((user + system) / 1000);
      if (turnsMs.length % 50 === 1) held.push(heldBytes() - before);
    }
    expect(await store.ledger.prune(nowMs, 1)).to.deep.equal({ isDone: true });
    expect(Math.max(...held) / 2 ** 20).to.be.lessThan(10);
    expect(turnsMs.length).to.be.greaterThan(50);
    expect(Math.max(...turnsMs)).to.be.lessThan(500);
    await keeper.close();
    await store.close();
    await remove();
  });
});

/** Fills the ledger with copies of its one row, a second apart. */
function copySeed(file: string, count: number): void {
  const database = openDatabase(file);
  const columns = Object.keys(database.prepare('select * from ledger').all()[0] as object); // its one row
  const values = columns.map((name) => ({ id: "'copy ' || i", at: 'at + 1000 * i' })[name] ?? name);
  database.exec(`
    with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count})
    insert into ledger (${columns.join(', ')}) select ${values.join(', ')} from ledger, n
  `);
  database.close();
}
