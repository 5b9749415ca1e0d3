import { expect } from 'chai';
import { loadConfig } from '#src/config/load.js';
import { needsRestart } from '#src/config/diff/settings.js';

describe('what a reload cannot change', () => {
  const load = (line: string) =>
    loadConfig({
      text: `pipeline: [{ use: auth }]\nslots: [{ id: a, upstream: simulator }]\n${line}`,
      file: 'gateway.yaml',
      env: {},
    });

  for (const [before, after] of [
    ['listen: { backlog: 4096 }', 'listen: { backlog: 128 }'],
    ['listen: { maxConnections: 8192 }', 'listen: { maxConnections: 10 }'],
    ['listen: { headersTimeout: 30s }', 'listen: { headersTimeout: 1s }'],
    ['listen: { bodyIdleTimeout: 30s }', 'listen: { bodyIdleTimeout: 1s }'],
    ['listen: { keepAliveTimeout: 75s }', 'listen: { keepAliveTimeout: 11m }'],
  ] as const)
    it(`listen: from "${before}" to "${after}"`, () => {
      expect(needsRestart(load(before), load(after))).to.deep.equal(['listen']);
      expect(needsRestart(load(before), load(before))).to.deep.equal([]);
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
