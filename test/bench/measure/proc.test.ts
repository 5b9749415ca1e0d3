import { expect } from 'chai';
import { memoryIn, runMs, ticksMs } from './proc.js';

describe('what Linux says of a process', () => {
  it('is its time in nanoseconds, where the kernel has that', () => {
    expect(runMs('339685673 23219742 79\n')).to.be.closeTo(339.69, 0.01);
  });

  it('is its time in ticks, whatever stands in its name', () => {
    const stat = '42 (a) b (c)) S 1 42 42 0 -1 4194560 1 0 0 0 33 4 0 0 20 0 11 0 1 2 3';
    expect(ticksMs(stat)).to.equal(370);
  });

  it('is its memory, of all kinds and of those without a file', () => {
    const status = 'Name:\tnode\nVmRSS:\t  131072 kB\nRssAnon:\t   65536 kB\nRssFile:\t 65536 kB\n';
    expect(memoryIn(status)).to.deep.equal({ rssMb: 128, anonymousMb: 64 });
  });
});
