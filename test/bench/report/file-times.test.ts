import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fileTable, fileTimes } from './file-times.js';
import { Sources } from './sources.js';

const frame = (functionName: string, url = '', columnNumber = 0) => {
  return { functionName, url, lineNumber: 0, columnNumber };
};

/** `root -> poll -> own -> pool (a package) -> write (native)`, and a timer of a package that nothing of ours called. */
function profileOf(own: string) {
  const nodes = [
    { id: 1, callFrame: frame('(root)'), children: [2, 7, 8, 9] },
    { id: 2, callFrame: frame('poll', 'node:internal/net'), children: [3, 10] },
    { id: 3, callFrame: frame('own', own), children: [4] },
    { id: 4, callFrame: frame('pool', 'file:///app/node_modules/@a/pool/lib/pool.js'), children: [5] },
    { id: 5, callFrame: frame('write'), children: [6] },
    { id: 6, callFrame: frame('other', own, 20) },
    { id: 7, callFrame: frame('tick', 'file:///app/node_modules/timer/index.js') },
    { id: 8, callFrame: frame('(garbage collector)') },
    { id: 9, callFrame: frame('(idle)') },
    { id: 10, callFrame: frame('read') },
  ];
  const samples = nodes.map(({ id }) => id);
  return { nodes, samples, timeDeltas: [1000, 1, 2, 4, 8, 16, 32, 64, 1000, 128] };
}

describe('the times by file', () => {
  it('have packages and natives with the nearest file of the checkout, else by themselves', () => {
    const times = fileTimes(profileOf('file:///app/dist/a.js'), '/app', new Sources());
    expect(Object.fromEntries(times)).to.deep.equal({
      'dist/a.js': 2 + 4 + 8 + 16,
      'node_modules/timer': 32,
      '(garbage collector)': 64,
      Node: 1 + 128,
    });
  });

  it('name the source files of a bundle', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gw2api-file-times-'));
    try {
      const bundle = join(folder, 'bundle.js');
      const map = { version: 3, sources: ['src/a.ts', 'src/b.ts'], names: [], mappings: 'AAAA,oBCAA' };
      await writeFile(`${bundle}.map`, JSON.stringify(map));
      const times = fileTimes(profileOf(pathToFileURL(bundle).href), folder, new Sources());
      expect(times.get('src/a.ts')).to.equal(2 + 4 + 8);
      expect(times.get('src/b.ts')).to.equal(16);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('leave out the profiler itself', () => {
    const url = 'file:///app/test/bench/measure/probe.ts';
    for (const checkout of ['/app', '/old']) {
      const times = fileTimes(profileOf(url), checkout, new Sources());
      expect([...times.keys()]).to.have.members(['Node', 'node_modules/timer', '(garbage collector)']);
    }
  });

  it('are a table of shares of the CPU time that was measured without the profiler', () => {
    const times = new Map([
      ['src/a.ts', 75],
      ['src/b.ts', 24],
      ['src/c.ts', 1],
    ]);
    expect(fileTable([{ line: 'gateway', times, threadMicros: 20 }]).split('\n')).to.deep.equal([
      '| file                    | gateway, CPU µs a request |',
      '|-------------------------|--------------------------:|',
      '| src/a.ts                |                      15.0 |',
      '| src/b.ts                |                       4.8 |',
      '| others, each under 1 µs |                       0.2 |',
      '| main thread             |                      20.0 |',
    ]);
  });
});
