import { expect } from 'chai';
import { reportDropped } from '@gw2api/gateway/plugin';
import { droppedHeader } from '#src/plugin/losses/loss-report.js';

describe('droppedHeader', () => {
  it('holds only what a header can', () => {
    expect(droppedHeader(['a\r\nb', 'ü'])).to.equal('a??b, ?');
  });

  it('ends after the last whole name that fits', () => {
    expect(droppedHeader(['abc', 'def', 'ghi'], 9)).to.equal('abc, def, ...');
    expect(droppedHeader(['abc', 'def'], 8)).to.equal('abc, def');
    expect(droppedHeader(['abcdef'], 4)).to.equal('abcd, ...');
  });
});

describe('reportDropped', () => {
  it('adds to what was reported before, and nothing where there is nothing', () => {
    const headers = new Map<string, string>();
    const answer = {
      get: (name: string) => headers.get(name) ?? '',
      set: (name: string, value: string) => void headers.set(name, value),
    };
    reportDropped(answer, []);
    expect([...headers]).to.deep.equal([]);
    reportDropped(answer, ['seed']);
    reportDropped(answer, ['tools[0].strict', 'user']);
    expect(headers.get('x-gw-dropped')).to.equal('seed, tools[0].strict, user');
  });
});
