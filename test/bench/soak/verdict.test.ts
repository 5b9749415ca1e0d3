import { expect } from 'chai';
import { readMetrics, type Sample } from './samples.js';
import { judge } from './verdict.js';

const quiet: Sample = {
  atMs: 0,
  rssMb: 120,
  heapMb: 50,
  files: 30,
  fileKinds: new Map([['socket', 30]]),
  handles: 3,
  timers: 0,
  openRequests: 0,
  inFlight: 0,
  queued: 0,
  loopDelayMs: 11,
};

const during = (heapMb: (at: number) => number) =>
  Array.from({ length: 30 }, (_, at) => ({ ...quiet, atMs: at * 5000, inFlight: 8, heapMb: heapMb(at) }));

describe('the verdict of a soak', () => {
  it('is clean where all returns and the collector swings', () => {
    expect(
      judge(
        quiet,
        during((at) => 50 + (at % 4) * 10),
        quiet,
      ).faults,
    ).to.deep.equal([]);
  });

  it('names what did not return', () => {
    const after = { ...quiet, inFlight: 1, timers: 2 };
    expect(
      judge(
        quiet,
        during(() => 50),
        after,
      ).faults,
    ).to.deep.equal(['timers did not return: 0, then 2', 'inFlight did not return: 0, then 1']);
  });

  it('tells which open files did not return', () => {
    const fileKinds = new Map([
      ['socket', 31],
      ['/tmp/gateway.db', 1],
    ]);
    const { faults } = judge(quiet, [quiet], { ...quiet, files: 32, fileKinds });
    expect(faults).to.deep.equal(['files did not return: 30, then 32 (more: 1 socket, 1 /tmp/gateway.db)']);
  });

  it('names memory that grows on after warming up', () => {
    expect(
      judge(
        quiet,
        during((at) => 50 + at * 2 + (at % 4) * 10),
        quiet,
      ).faults[0],
    ).to.contain('heapMb grew');
  });
});

describe('the metrics that a soak reads', () => {
  it('are added up by name and by a part of their labels', () => {
    const text = '# HELP a b\na{slot="x"} 1\na{slot="y"} 2.5\nb 7\n';
    expect(readMetrics(text).sum('a')).to.equal(3.5);
    expect(readMetrics(text).sum('a', 'slot="y"')).to.equal(2.5);
    expect(readMetrics(text).sum('b')).to.equal(7);
    expect(readMetrics(text).sum('c')).to.equal(0);
  });
});
