import { expect } from 'chai';
import { boundedJson, shortText } from '#src/state/audit/bounded.js';

describe('a value on its way into the audit log', () => {
  it('stays as it is where it is small', () => {
    const value = { name: 'ü', models: ['a', 1, true, null], limits: { day: 5 } };
    expect(boundedJson(value)).to.deep.equal(value);
    expect(boundedJson(undefined)).to.equal(undefined);
    expect(boundedJson({ a: undefined, b: 1 })).to.deep.equal({ b: 1 });
  });

  it('has its texts and lists cut off, and says so', () => {
    const long = boundedJson({ note: 'x'.repeat(600), list: Array.from({ length: 103 }, () => 1) });
    const { note, list } = long as { note: string; list: unknown[] };
    expect(note).to.equal(`${'x'.repeat(500)}…`);
    expect(list).to.have.length(101);
    expect(list.at(-1)).to.equal('… and 3 more');
    expect(shortText(`${'x'.repeat(499)}😀`)).to.equal(`${'x'.repeat(499)}…`);
  });

  it('never takes more than its part of an entry, however it is built', () => {
    const wide = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`k${at}`, 'y'.repeat(400)]));
    let deep: unknown = 'end';
    for (let depth = 0; depth < 5000; depth += 1) deep = [deep];
    const values = [
      wide,
      { a: wide, b: 1 },
      [wide, wide],
      Array.from({ length: 100 }, () => 'z'.repeat(499)),
    ];
    for (const value of [...values, Object.fromEntries([['k'.repeat(100_000), 1]]), deep])
      expect(JSON.stringify(boundedJson(value)).length).to.be.at.most(16_500);
    expect(boundedJson({ a: wide, b: 1 })).to.deep.include({ b: 1 });
  });

  it('loses passwords in URLs, and keys of the gateway', () => {
    const key = `sk-gw-${'a'.repeat(43)}`;
    const token = `gw-adm-${'b'.repeat(43)}`;
    const shown = boundedJson({
      proxy: 'http://me:hunter2@proxy:1/?key=hunter3',
      note: `use ${key} or ${token}, ${'x'.repeat(440)} ${key}`,
      [key]: 1,
    });
    expect(JSON.stringify(shown)).to.not.match(/hunter|aaaa|bbbb/);
    expect(JSON.stringify(shown)).to.include('sk-gw-***').and.include('gw-adm-***');
  });
});
