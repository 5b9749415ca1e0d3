import { expect } from 'chai';
import type { Cost } from '../measure/rounds.js';
import { threadTable } from './thread-table.js';

function cost(threadMicros: Cost['threadMicros']): Cost {
  const others = {
    cpuMicros: 0,
    busiestMicros: 0,
    loadMicros: 0,
    requestsPerSecond: 0,
    firstByteMs: 0,
    rssMb: 0,
  };
  return { ...others, threadMicros };
}

describe('the table of threads', () => {
  it('has the medians of each kind', () => {
    const rounds = [20, 30, 10].map((micros) => cost({ main: micros, SQLite: 2, V8: 1 }));
    expect(threadTable(new Map([['gateway', rounds]])).split('\n')).to.deep.equal([
      '',
      '',
      '| CPU µs a request by thread | main | SQLite |  V8 | other |',
      '|----------------------------|-----:|-------:|----:|------:|',
      '| gateway                    | 20.0 |    2.0 | 1.0 |     – |',
    ]);
  });

  it('says where Node gives its threads no names', () => {
    expect(threadTable(new Map([['gateway', [cost({ main: 1, other: 2 })]]]))).to.include('no names');
  });
});
