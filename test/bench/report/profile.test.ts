import { expect } from 'chai';
import { selfTimes } from './profile.js';
import { Sources } from './sources.js';

const frame = (functionName: string, url = '') => ({ functionName, url, lineNumber: 4, columnNumber: 0 });

describe('the profile of a bench', () => {
  it('has the time of each function itself, wherever it was called, without idle time and the profiler', () => {
    const nodes = [
      { id: 1, callFrame: frame('(idle)') },
      { id: 2, callFrame: frame('parse', 'file:///dist/a.js') },
      { id: 3, callFrame: frame('parse', 'file:///dist/a.js') },
      { id: 4, callFrame: frame('(garbage collector)') },
      { id: 5, callFrame: frame('post', 'node:inspector') },
    ];
    const profile = { nodes, samples: [1, 2, 3, 4, 5], timeDeltas: [100, 20, 5, 3, 50] };
    expect([...selfTimes([profile], new Sources())]).to.deep.equal([
      ['parse a.js:5', 25],
      ['(garbage collector)', 3],
    ]);
  });

  it('calls an expression by the beginning of its text', () => {
    const nodes = [{ id: 1, callFrame: frame(`RegExp: ${'x'.repeat(200)}`) }];
    const [[name] = []] = selfTimes([{ nodes, samples: [1], timeDeltas: [1] }], new Sources());
    expect(name).to.equal(`RegExp: ${'x'.repeat(52)}`);
  });
});
