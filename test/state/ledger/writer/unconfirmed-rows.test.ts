import { expect } from 'chai';
import { fakeHost, MemoryStore } from '@gw2api/gateway/testing';
import { LedgerWriter, type LedgerWriterOptions } from '#src/state/ledger/writer/ledger-writer.js';
import { withFlushedUsage } from '#src/state/store/read-your-writes-ledger.js';
import { Spool } from '#src/state/ledger/spool/spool.js';
import { systemProcesses } from '#src/state/ledger/spool/spool-owner.js';
import type { WaitingUse } from '#src/state/ledger/writer/waiting-sums.js';
import { systemClock } from '#src/plugin/index.js';
import type { UsageQuery } from '#src/plugin/contract/ledger.js';
import type { AppendedRow } from '#src/state/ledger/contract.js';
import { eventually } from '../../../eventually.js';
import { money, row } from '../../store/ledger-conformance.js';
import { ownFolder, type Place } from '../../store/stores.js';

const dayMs = 86_400_000;
const days = { fromMs: 0, toMs: dayMs };
const query = { ...days, keyId: 'k' };

describe('rows that the store has without an instance hearing of it', () => {
  let folder: Place<string>;
  let store: MemoryStore;
  /** Number of appends to come whose answers arrive; of the others, the rows come to the store. */
  let heard: number;
  beforeEach(async () => {
    folder = await ownFolder();
    store = new MemoryStore();
    heard = 0;
  });
  afterEach(() => folder.remove());

  const append = async (rows: readonly AppendedRow[]): Promise<void> => {
    await store.ledger.append(rows);
    if ((heard -= 1) < 0) throw new Error('the store has not answered');
  };
  /** Tries only where it is asked to. */
  const clock = { ...systemClock, setTimer: () => () => undefined };
  const open = (spool?: Spool, options: Partial<LedgerWriterOptions> = { clock }) =>
    new LedgerWriter({ ledger: { append }, log: fakeHost().log, ...(spool && { spool }), ...options });
  const rows = (count: number) =>
    Array.from({ length: count }, (_, at) =>
      row(String(at), at, { keyId: at % 2 ? 'other' : 'k', ...money }),
    );

  for (const where of ['its spool', 'memory'])
    it(`are told with what waits in ${where}, those of the key that is asked for`, async () => {
      const writer =
        where === 'memory' ? open(undefined, { retryMs: 1 }) : open(new Spool({ folder: folder.where }));
      for (const each of rows(400)) writer.write(each);
      const { sum, unconfirmed } = await writer.waitingOf(query);
      expect(sum?.requests).to.equal(200);
      const given = rows(250).filter(({ keyId }) => keyId === 'k');
      expect(unconfirmed).to.deep.equal(given.map(({ id, atMs }) => ({ id, atMs })));
      expect((await writer.waitingOf({ fromMs: 0, toMs: 10, keyId: 'k' })).unconfirmed).to.have.length(5);

      heard = Infinity;
      await eventually(async () => (await writer.waitingOf(query)).sum === null);
      expect(await writer.waitingOf(query)).to.deep.equal({ sum: null, version: 0 });
      await writer.close();
    });

  it('are told no longer once the store has answered that it has them', async () => {
    const writer = open(new Spool({ folder: folder.where }));
    for (const each of rows(250)) writer.write(each);
    expect((await writer.waitingOf(query)).unconfirmed).to.have.length(125);
    heard = 1; // a step of 50
    const { sum, unconfirmed = [] } = await writer.waitingOf(query);
    expect(sum?.requests).to.equal(100);
    expect(unconfirmed.map(({ id }) => Number(id))).to.deep.equal(
      Array.from({ length: 100 }, (_, at) => 50 + 2 * at),
    );
    await writer.close();
  });

  it('are at most 500 of those that a process has left, which may have given the store any', async () => {
    const { own } = systemProcesses();
    const left = new Spool({
      folder: folder.where,
      processes: { ...systemProcesses(), own: { ...own, start: own.start - 1 } },
    });
    await left.add(rows(1200));
    const writer = open(new Spool({ folder: folder.where }));
    const { sum, unconfirmed } = await writer.waitingOf(query);
    expect(sum?.requests).to.equal(600);
    expect(unconfirmed).to.have.length(250);
    const both = [await writer.waitingOf(query), await writer.waitingOf({ ...days, keyId: 'other' })];
    expect(both.flatMap((use) => use.unconfirmed ?? [])).to.have.length(500);
    await writer.close();
  });

  describe('in a sum of all instances', () => {
    const usage: UsageQuery = { ...query, by: null, stepMs: dayMs, everywhere: true };
    const sumWith = async (told: (waiting: WaitingUse) => WaitingUse) => {
      const [away, here] = [open(new Spool({ folder: folder.where })), open()];
      for (const each of rows(300)) away.write(each);
      await away.flush();
      const waitingOf = async () => [told(await away.waitingOf(query))];
      const others = { flush: () => away.flush(), waitingOf, spools: async () => new Set<string>() };
      const sums = await withFlushedUsage(store, here, others).ledger.usage(usage);
      await away.close();
      return sums.map(({ requests, billedCost }) => [requests, billedCost]);
    };

    it('count once', async () => {
      expect(await sumWith((waiting) => waiting)).to.deep.equal([[150, 150 * money.cost.billed]]);
    });

    it('count twice where an instance of a former version does not name them', async () => {
      const sums = await sumWith(({ unconfirmed: _, ...former }) => former);
      expect(sums).to.deep.equal([[275, 275 * money.cost.billed]]);
    });
  });
});
