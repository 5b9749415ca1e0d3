import { expect } from 'chai';
import { loadConfig } from '#src/config/load.js';
import { needsRestart } from '#src/restart.js';

describe('what a reload cannot change', () => {
  const load = (line: string) =>
    loadConfig({
      text: `pipeline: [{ use: auth }]\nslots: [{ id: a, upstream: simulator }]\n${line}`,
      file: 'gateway.yaml',
      env: {},
    });

  for (const [setting, before, after] of [
    ['live', 'live: memory', 'live: redis://cache'],
    ['live', 'live: redis://cache', 'live: redis://:secret@cache'],
    ['store', 'store: memory', 'store: sqlite:./other.db'],
  ] as const)
    it(`${setting}: from "${before}" to "${after}"`, () => {
      expect(needsRestart(load(before), load(after)))
        .to.include(setting)
        .and.not.include('listen');
      expect(needsRestart(load(before), load(before))).to.deep.equal([]);
    });
});
