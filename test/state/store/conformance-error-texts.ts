import { expect } from 'chai';
import type { ErrorTexts } from '#src/state/ledger/error-texts.js';
import type { WholeStore } from '#src/state/store/contract/store.js';
import { row } from './ledger-conformance.js';

/** The error texts of every store. */
export function describeErrorTexts(storeNow: () => WholeStore): void {
  describe('its error texts', () => {
    const failed = (id: string, atMs: number, errorTexts: ErrorTexts = textsOf(id)) => ({
      ...row(id, atMs, { failed: true }),
      errorTexts,
    });

    it('come with their rows, and are found by these alone', async () => {
      const { ledger, errorTexts } = storeNow();
      const whole = {
        text: 'Über 🙂 "quoted" \\n',
        calls: [
          { call: 0, text: 'first' },
          { call: 2, text: 'last' },
        ],
      };
      await ledger.append([failed('1', 5, whole), row('2', 5), failed('3', 2 ** 42)]);
      const found = await errorTexts.find([row('1', 5), row('2', 5), row('3', 2 ** 42), row('other', 5)]);
      expect(found).to.deep.equal(
        new Map([
          ['1', whole],
          ['3', textsOf('3')],
        ]),
      );
      expect(await errorTexts.find([row('1', 6), row('3', 5)])).to.deep.equal(new Map());
      expect(await errorTexts.find([])).to.deep.equal(new Map());
    });

    it('are in no row that is read', async () => {
      const { ledger } = storeNow();
      await ledger.append([failed('1', 5)]);
      expect((await ledger.requests({}, { limit: 10 })).rows).to.deep.equal([row('1', 5, { failed: true })]);
      expect(JSON.stringify(await ledger.get({ id: '1', atMs: 5 }))).to.not.include('text of');
    });

    it('stay as they came first, in whichever batches they come', async () => {
      const { ledger, errorTexts } = storeNow();
      const rows = Array.from({ length: 237 }, (_, at) =>
        at % 2 === 0 ? failed(`r${at}`, 10 + at) : row(`r${at}`, 10 + at),
      );
      await ledger.append(rows.slice(0, 123));
      await ledger.append([failed('r0', 10, textsOf('another')), ...rows.slice(1)]);
      const found = await errorTexts.find(rows);
      expect(found.size).to.equal(119);
      expect(found.get('r0')).to.deep.equal(textsOf('r0'));
      expect((await ledger.requests({}, { limit: 1000 })).rows).to.have.length(237);
    });

    it('are found for more rows than one query takes', async () => {
      const { ledger, errorTexts } = storeNow();
      const rows = Array.from({ length: 1100 }, (_, at) => failed(`r${at}`, at));
      await ledger.append(rows);
      expect((await errorTexts.find(rows)).size).to.equal(1100);
    });

    it('are deleted in steps, the oldest first, and their rows stay', async () => {
      const { ledger, errorTexts } = storeNow();
      const rows = [1, 2, 3, 4, 5, 6].map((atMs) => failed(`r${atMs}`, atMs));
      await ledger.append(rows);
      const steps = [];
      for (let step = 0; step < 4; step += 1) steps.push((await errorTexts.prune(6, 2)).isDone);
      expect(steps).to.deep.equal([false, false, true, true]);
      expect([...(await errorTexts.find(rows)).keys()]).to.deep.equal(['r6']);
      expect((await ledger.requests({}, { limit: 10 })).rows).to.have.length(6);
    });
  });
}

function textsOf(id: string): ErrorTexts {
  return { text: `text of ${id}`, calls: [] };
}
