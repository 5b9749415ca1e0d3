import { expect } from 'chai';
import { evidenceOf, falseAlarmRate } from '#src/features/canary/evidence.js';
import { sideOf, unitOf } from '#src/features/canary/side.js';
import { givenUpAt, randomFrom, type World } from './canaries.js';

/** Share of canaries that are given up. */
function shareGivenUp(world: World, canaries: number): number {
  const random = randomFrom(7);
  const ends = Array.from({ length: canaries }, () => givenUpAt(world, random));
  return ends.filter((end) => end !== undefined).length / canaries;
}

describe('the evidence of a canary', () => {
  const same: readonly (readonly [string, number])[] = [
    ['rare failures', 0.005],
    ['some failures', 0.05],
    ['a third of the sessions failing', 0.33],
  ];
  for (const [what, rate] of same)
    it(`gives up at most one of a hundred candidates that are no worse: ${what}`, () => {
      const world = { control: rate, candidate: rate, sessions: 2000 };
      expect(shareGivenUp(world, 2000)).to.be.at.most(falseAlarmRate);
    });

  it('gives up a candidate that fails in one session of ten where the other fails in one of a hundred', () => {
    const world = { control: 0.01, candidate: 0.1, sessions: 1000 };
    expect(shareGivenUp(world, 100)).to.be.at.least(0.99);
  });

  it('never gives up one that fails less', () => {
    const world = { control: 0.1, candidate: 0.02, sessions: 2000 };
    expect(shareGivenUp(world, 100)).to.equal(0);
  });

  it('begins at 1, grows with the failures of the candidate and shrinks with those of the control', () => {
    expect(evidenceOf({ candidate: 0, control: 0 })).to.equal(1);
    expect(evidenceOf({ candidate: 7, control: 0 })).to.be.below(100);
    expect(evidenceOf({ candidate: 9, control: 0 })).to.be.above(100);
    expect(evidenceOf({ candidate: 9, control: 3 })).to.be.below(100);
    expect(evidenceOf({ candidate: 0, control: 50 })).to.be.below(1e-2);
  });
});

describe('the side of a session', () => {
  const sidesAt = (percent: number, id = 'a') =>
    Array.from({ length: 20_000 }, (_, at) => sideOf(unitOf(id, `session ${at}`), percent));
  const countOf = (sides: readonly unknown[], side: unknown) => sides.filter((one) => one === side).length;

  it('is the candidate for its share, and the control for as many', () => {
    const sides = sidesAt(5);
    expect(countOf(sides, 'candidate')).to.be.within(900, 1100);
    expect(countOf(sides, 'control')).to.be.within(900, 1100);
    expect(countOf(sidesAt(50), undefined)).to.equal(0);
  });

  it('is another one in the next canary', () => {
    const next = sidesAt(50, 'b');
    const same = sidesAt(50).filter((side, at) => side === next[at]);
    expect(same.length).to.be.within(9700, 10_300);
  });
});
