import { expect } from 'chai';
import { kindIn, threadKinds, timesByKind } from './thread-kinds.js';

describe('the kinds of threads', () => {
  it('are known by their names, where Node gives them one', () => {
    expect(kindIn('V8Worker\n')).to.equal('V8');
    expect(kindIn('sqlite\n')).to.equal('SQLite');
    expect(kindIn('libuv-worker\n')).to.equal('other');
    expect(kindIn('node\n')).to.equal('other');
  });

  it('have the main thread of each process among them, whatever its name is', async () => {
    const kinds = await threadKinds([process.pid]);
    expect(kinds.get(process.pid)).to.equal('main');
    expect([...kinds.values()].filter((kind) => kind === 'main')).to.have.length(1);
  });

  it('have the times of their threads together', () => {
    const times = new Map([
      [1, 10],
      [2, 3],
      [3, 4],
      [4, 1],
    ]);
    const kinds = new Map([
      [1, 'main'],
      [2, 'V8'],
      [3, 'V8'],
    ] as const);
    expect(timesByKind(times, kinds)).to.deep.equal({ main: 10, V8: 7, other: 1 });
  });
});
