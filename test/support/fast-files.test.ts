import path from 'node:path';
import { expect } from 'chai';
import { fastFiles } from './fast-files.js';

describe('the fast tests', () => {
  const folder = path.resolve('build/test');
  const files = fastFiles(folder).map((file) => path.relative(folder, file));

  it('are a good part of all', () => {
    expect(files).to.include.members(['kit/time/clock.test.js', 'plugin/events/event-stream.test.js']);
    expect(files.length).to.be.greaterThan(200);
  });

  it('have none that listens or spawns by what it imports', () => {
    for (const name of ['state/store/opening.test.js', 'cli/doctor.test.js', 'failover/failover.test.js'])
      expect(files).not.to.include(name);
    expect(files.filter((name) => name.endsWith('.full.test.js'))).to.deep.equal([]);
  });
});
