import { text } from 'node:stream/consumers';
import { setImmediate as immediate } from 'node:timers/promises';
import { expect } from 'chai';
import { jsonInPieces } from '#src/operator/json.js';

describe('JSON in pieces', () => {
  for (const count of [0, 1, 250, 251, 2000])
    it(`is the JSON of the whole: ${count} items`, async () => {
      const items = Array.from({ length: count }, (_, at) => at);
      const report = (at: number) => ({ at, name: `é "${at}"` });
      const json = await text(jsonInPieces({ object: 'usage', by: null }, items, report));
      expect(json).to.equal(JSON.stringify({ object: 'usage', by: null, data: items.map(report) }));
    });

  it('leaves others their turns', async () => {
    const items = Array.from({ length: 5000 }, (_, at) => at);
    const whole = text(jsonInPieces({ object: 'list' }, items, (at) => ({ at }))).then(() => 'whole');
    let turns = 0;
    for (let state = ''; state !== 'whole'; turns += 1)
      state = await Promise.race([whole, immediate('under way')]);
    expect(turns).to.be.greaterThan(10);
  });
});
