import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { scenarios } from './scenarios.js';
import type { Result } from './run-scenario.js';
import { bestOutcomes, countOf, modes, runSuite, tableOf } from './suite.js';

/** Share of the real times; `npm run failover` takes all of them. */
const scale = 0.1;

describe('the failover suite', function () {
  this.timeout(120_000);
  let results: readonly Result[] = [];
  before(async () => {
    results = await runSuite(scale);
  });

  for (const { id, mode, outcome } of bestOutcomes) {
    const { fault, rule } = scenarios.find((each) => each.id === id)!;
    it(`ends ${id} ${outcome}, ${mode}: ${fault}; ${rule}`, () => {
      const result = results.find((each) => each.id === id && each.mode === mode)!;
      expect(result.outcome, result.why).to.equal(outcome);
    });
  }

  it('has these outcomes in config/failover.md and their sums in config/performance.md', async () => {
    expect(await readFile('config/failover.md', 'utf8')).to.include(tableOf(bestOutcomes));
    const performance = await readFile('config/performance.md', 'utf8');
    for (const mode of modes) {
      const own = bestOutcomes.filter((each) => each.mode === mode);
      expect(performance).to.include(`| ${mode} | ${countOf(own, 'answered')} | ${countOf(own, 'safe')} |`);
    }
  });
});
