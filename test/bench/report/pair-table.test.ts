import { expect } from 'chai';
import { pairsOf, pairTable } from './pair-table.js';

const rounds = new Map([
  ['old', [100, 200, 100, 400, 100]],
  ['gateway', [90, 190, 80, 300, 90]],
  ['old again', [100, 210, 100, 400, 100]],
  ['nginx', [1, 1, 1, 1, 1]],
]);

describe('the pairs of two builds', () => {
  it('have the ratios of the rounds, not that of the medians', () => {
    const [gateway, again] = pairsOf(rounds);
    expect(gateway).to.deep.equal({
      line: 'gateway',
      rounds: 5,
      ratio: 0.9,
      lower: 0.8,
      upper: 0.9,
      least: 0.75,
      most: 0.95,
      more: -10,
    });
    expect(again).to.include({ line: 'old again', ratio: 1, least: 1, most: 1.05, more: 0 });
  });

  it('are none where there is no old build', () => {
    expect(pairsOf(new Map([['gateway', [1, 2]]]))).to.deep.equal([]);
    expect(pairTable([])).to.equal('');
  });

  it('are a table below another one', () => {
    expect(pairTable(pairsOf(rounds)).split('\n')).to.deep.equal([
      '',
      '',
      '| CPU of the old build | median | change | half of the rounds |  least to most | µs more | rounds |',
      '|----------------------|-------:|-------:|-------------------:|---------------:|--------:|-------:|',
      '| gateway              |  0.900 |  −10 % |     0.800 to 0.900 | 0.750 to 0.950 |     -10 |      5 |',
      '| old again            |  1.000 |        |     1.000 to 1.000 | 1.000 to 1.050 |       0 |      5 |',
    ]);
  });

  it('claim nothing under 5 %, nor what the old build differs from itself', () => {
    const tableOf = (gateway: number, again: number) => pairTable(pairsOf(roundsOf(gateway, again, 5)));
    expect(tableOf(96, 100)).to.include('within noise');
    expect(tableOf(92, 90)).to.include('within noise');
    expect(tableOf(107, 98)).to.include('+7 %').and.not.include('within noise');
  });

  it('claim nothing from fewer than five rounds', () => {
    expect(pairTable(pairsOf(roundsOf(50, 100, 4)))).to.include('too few rounds');
  });
});

function roundsOf(gateway: number, again: number, rounds: number): ReadonlyMap<string, readonly number[]> {
  const micros = Object.entries({ old: 100, gateway, 'old again': again });
  return new Map(micros.map(([line, each]) => [line, Array.from({ length: rounds }, () => each)]));
}
